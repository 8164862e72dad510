/** Twelve support threads to try a comparison with, and the task for them. They are invented. */

export const SAMPLE_TAG = "sample";
export const SAMPLE_TASK =
  "Summarise the thread in three sentences for a colleague who takes over: what the customer wants, what was done, and what is still open.";
/** Built-in models that need no key and cost nothing. */
export const SAMPLE_MODELS = ["local:lexrank", "local:submodular", "local:lead"];

interface Case {
  who: string;
  what: string;
  wish: string;
  tried: string;
  found: string;
  open: string;
  aside: string;
}

const CASES: readonly Case[] = [
  {
    who: "Mara from the bakery",
    what: "the import of 4,000 addresses stops at row 1,212",
    wish: "have all addresses in before the campaign on Friday",
    tried: "split the file in two and removed empty lines",
    found: "row 1,212 holds a tab inside a name, which the importer takes for a new column",
    open: "a cleaned file was sent back, and nobody has said yet whether it went through",
    aside: "She also asks whether the logo on invoices can be larger.",
  },
  {
    who: "Mr Okafor",
    what: "two invoices for March show the same number",
    wish: "get a corrected invoice for his tax adviser by the tenth",
    tried: "cancelled the second one, which made the portal show neither",
    found: "a retry after a time-out created the second document",
    open: "accounting has to release number 2031 again before a new invoice can go out",
    aside: "He has been a customer since the first year and mentions it twice.",
  },
  {
    who: "the clinic in Graz",
    what: "logins fail for everybody since the night",
    wish: "work again before the first patient at eight",
    tried: "restarted two computers and the router",
    found: "the certificate of their own sign-in server expired at midnight",
    open: "their provider renews it within the hour, and somebody should call them at half past seven",
    aside: "The receptionist apologises for writing in capitals.",
  },
  {
    who: "Lena, who teaches maths",
    what: "her class cannot open the shared exercise",
    wish: "let 28 pupils write in it at the same time tomorrow",
    tried: "sent the link again and made the folder public",
    found: "the school's plan allows 25 people in one document",
    open: "the head of the school decides about three more seats, which cost nine euros a month",
    aside: "Her own notes must stay hidden from the pupils.",
  },
  {
    who: "a logistics firm",
    what: "label printers stop after every fortieth label",
    wish: "print 3,000 labels a day without a person beside the printer",
    tried: "changed the cable, the paper and the driver",
    found: "the queue waits for an acknowledgement that the new firmware sends only when it is asked",
    open: "the older firmware is offered for download, and a fix is promised for the next release",
    aside: "They keep two printers of another make as a reserve.",
  },
  {
    who: "Ms Petrov",
    what: "her cancelled subscription was charged again",
    wish: "have 49 dollars back and a written confirmation",
    tried: "cancelled in the app, by mail and by telephone",
    found: "the cancellation was entered for a second account with the same address",
    open: "the refund is ordered and takes five days, and the confirmation still has to be written",
    aside: "She threatens to tell her bank, and then thanks for the quick answer.",
  },
  {
    who: "the editor of a small magazine",
    what: "footnotes vanish when articles are exported",
    wish: "send the issue to the printer on Monday with all 61 notes",
    tried: "exported to three formats and copied the text by hand",
    found: "notes inside tables are dropped, and all others are kept",
    open: "a patched exporter is being tested, and until then tables can be turned into pictures",
    aside: "The poem on page nine is by a reader, aged eleven.",
  },
  {
    who: "Jonas, who runs a hostel",
    what: "bookings from one portal arrive an hour late",
    wish: "never sell the same bed twice again",
    tried: "set the clock of his computer and booked a test bed himself",
    found: "the portal sends times without a zone, and daylight saving began on Sunday",
    open: "the portal was told, and a rule adds the missing hour until it answers",
    aside: "Two guests shared a room and got a free breakfast.",
  },
  {
    who: "the union of choirs",
    what: "the newsletter lands in the spam of every third member",
    wish: "reach 1,900 members before the general assembly",
    tried: "wrote a shorter subject and left out the pictures",
    found: "the domain has no record that allows the new mail service to send for it",
    open: "their volunteer for technology is on holiday until Thursday and has the only password",
    aside: "The assembly votes about a new conductor.",
  },
  {
    who: "a dental laboratory",
    what: "orders from one practice lose their attachments",
    wish: "receive scans of up to 300 megabytes again",
    tried: "asked the practice to send the scans as two parts",
    found: "a proxy of the practice cuts every upload at 100 megabytes",
    open: "the practice asks its provider for an exception, and a transfer by link works meanwhile",
    aside: "One patient is waiting for a crown before a wedding.",
  },
  {
    who: "Aisha, a freelance translator",
    what: "her word counts differ from those of her client",
    wish: "be paid for 412 words that the client does not see",
    tried: "counted in two programs and by hand on one page",
    found: "the client's program leaves out text boxes and headers",
    open: "both agree to count by the exported text from now on, and the old invoice is still disputed",
    aside: "The text is a manual for a coffee machine.",
  },
  {
    who: "the town library",
    what: "the self-service desk returns books to the wrong branch",
    wish: "stop driving 80 books across the town each week",
    tried: "moved the desk and scanned every shelf anew",
    found: "two branches share one code since the move in spring",
    open: "the vendor has to split the code at night, and asks for a list of the shelves first",
    aside: "Readers like the new armchairs.",
  },
];

/** The documents, each a thread of five messages. */
export function sampleDocuments(): { name: string; body: string }[] {
  return CASES.map((one, at) => ({
    name: `Sample thread ${at + 1}`,
    body: [
      `# Ticket ${51_200 + 7 * at}`,
      `Customer: This is ${one.who}. Our problem is that ${one.what}. We want to ${one.wish}. ${one.aside}`,
      `Support: Thank you for the details. Could you tell us what you have tried so far, and since when it happens?`,
      `Customer: We ${one.tried}, and it did not help. It began last week, and it happens every time.`,
      `Support: We looked into it together with the developers. It turned out that ${one.found}. That explains why what you tried could not help.`,
      `Customer: That makes sense, thank you. What happens now?`,
      `Support: At the moment this is where we are: ${one.open}. We keep the ticket open until you tell us that it works.`,
    ].join("\n\n"),
  }));
}
