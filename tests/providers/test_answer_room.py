"""The memory for long answers: how much one user may hold, and what is left for others."""

import pytest

from carrel.providers.answer_room import SMALL_BYTES, AnswerMemory, AnswerRoom
from carrel.providers.base import ProviderError

KIB = 1024
LONGEST = 1024 * KIB
ALL = 8 * LONGEST


def filled(room: AnswerRoom, user: str, size: int) -> list[AnswerMemory]:
    """Places of the user, each of this size, until there is no room for another."""
    places = list[AnswerMemory]()

    def fill() -> None:
        while True:
            place = room.place(user)
            place.hold(size)
            places.append(place)

    with pytest.raises(ProviderError) as caught:
        fill()
    assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == ("service-busy", True, False)
    return places


def test_one_user_alone_holds_a_quarter_of_the_memory() -> None:
    assert len(filled(AnswerRoom(LONGEST), "ada", LONGEST)) == 2
    assert len(filled(AnswerRoom(LONGEST), "ada", 256 * KIB)) == 8


def test_there_is_room_for_another_user_whatever_others_hold() -> None:
    room = AnswerRoom(LONGEST)
    held = sum(70 * KIB * len(filled(room, f"greedy-{number}", 70 * KIB)) for number in range(7))
    assert ALL * 3 // 4 < held < ALL
    assert len(filled(room, "ada", 70 * KIB)) > 1


def test_what_is_released_is_free_again_and_nothing_is_forgotten() -> None:
    room = AnswerRoom(LONGEST)
    for _ in range(10):
        places = filled(room, "ada", LONGEST)
        assert len(places) == 2
        for place in places:
            place.release()
            place.release()


def test_an_answer_that_turns_out_shorter_gives_room_back() -> None:
    room = AnswerRoom(LONGEST)
    places = filled(room, "ada", LONGEST)
    for place in places:
        place.hold(SMALL_BYTES)
    assert len(filled(room, "ada", LONGEST)) == 2


def test_short_answers_are_not_counted() -> None:
    room = AnswerRoom(LONGEST)
    for _ in range(1_000):
        room.place("ada").hold(SMALL_BYTES)
    assert len(filled(room, "ada", LONGEST)) == 2


def test_a_call_whose_place_was_released_holds_nothing_more() -> None:
    room = AnswerRoom(LONGEST)
    with room.place("ada") as place:
        place.hold(LONGEST)
    with pytest.raises(ProviderError, match="service-busy"):
        place.hold(LONGEST)
    assert len(filled(room, "ada", LONGEST)) == 2
