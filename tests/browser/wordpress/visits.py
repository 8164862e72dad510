"""What people do at a WordPress, without a browser: forms and links, as HTTP sees them."""

import html
import re
import xmlrpc.client

import httpx

from tests.browser.wordpress.site import WordPress


def change_password(site: WordPress, visitor: httpx.Client, old: str, new: str) -> httpx.Response:
    """Fill in the form. It answers 302 when the password is changed, and 200 with the form when it is not."""
    place = "/wp-login.php?action=carrel_password"
    nonce = _field("_wpnonce", visitor.get(place).text)
    return visitor.post(place, data={"_wpnonce": nonce, "old": old, "pass1": new, "pass2": new})


def ask_for_link(site: WordPress, name: str) -> str:
    """The link in the mail."""
    with site.visitor() as visitor:
        assert visitor.post("/wp-login.php?action=lostpassword", data={"user_login": name}).status_code == 302
    return site.letter()


class Reset:
    """A visitor before the form behind the link."""

    def __init__(self, site: WordPress, link: str) -> None:
        self.visitor = site.visitor()
        form = self.visitor.get(link)
        assert form.status_code == 302
        answer = self.visitor.get(form.headers["location"])
        self.is_valid = answer.status_code == 200
        self.key = _field("rp_key", answer.text) if self.is_valid else ""

    def send(self, new: str, *, old: str = "", phrase: str = "") -> str:
        """What the page says."""
        fields = {"pass1": new, "pass2": new, "rp_key": self.key, "carrel_old": old, "carrel_phrase": phrase}
        return said(self.visitor.post("/wp-login.php?action=resetpass", data=fields))


def said(answer: httpx.Response) -> str:
    """The text of a page, or where it leads."""
    if answer.status_code == 302:
        return answer.headers["location"]
    return html.unescape(
        re.sub(r"\s+", " ", re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]*>", " ", answer.text, flags=re.DOTALL))
    )


def xmlrpc_takes(site: WordPress, name: str, password: str) -> bool:
    """Whether a program may call with this password."""
    with xmlrpc.client.ServerProxy(f"{site.url}/xmlrpc.php") as server:
        try:
            server.wp.getProfile(1, name, password)
        except xmlrpc.client.Fault as refused:
            if refused.faultCode != 403:
                raise
            return False
    return True


def _field(name: str, page: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None, page
    return found[1]
