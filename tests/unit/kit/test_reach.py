"""What a call may touch: names, places, ids, and how a reach goes from one task to the next."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_kit import reach
from quelea_kit.errors import InvalidInput
from quelea_kit.reach import Reach
from quelea_kit.rpc.reach_channel import read_reach

names = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True)
ids = st.from_regex(r"[0-9a-f]{32}", fullmatch=True)


class Context:
    """Of a call with metadata."""

    def __init__(self, **metadata: str) -> None:
        self._metadata = tuple(metadata.items())

    def invocation_metadata(self):
        return self._metadata


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a.b", "a:b", "a b", "é", "a" * 41, "*", "a\n"])
def test_what_is_no_name(name):
    with pytest.raises(InvalidInput, match="tenant must be"):
        Reach.of(name)
    with pytest.raises(InvalidInput, match="collection must be"):
        Reach.of("bonds", [name])


@given(names, names, ids)
def test_a_place_is_read_back_and_gives_ids_of_its_own(tenant, collection, document):
    place = reach.place_of(tenant, collection)
    assert reach.split_place(f"{place}{document}-0123") == (tenant, collection, f"{document}-0123")
    assert (reach.id_in(place, document) == document) is (not place)
    assert (reach.name_in(place, "u") == "u") is (not place)


@given(names, names, names, names, ids)
def test_two_places_share_no_id_and_no_name(tenant, collection, other, another, document):
    one, two = reach.place_of(tenant, collection), reach.place_of(other, another)
    assert ((tenant, collection) == (other, another)) is (reach.id_in(one, document) == reach.id_in(two, document))
    assert ((tenant, collection) == (other, another)) is (reach.name_in(one, "u") == reach.name_in(two, "u"))


@given(names, names, ids)
def test_an_id_is_bound_to_its_tenant(tenant, other, random):
    made = reach.bound_id(tenant, random)
    assert reach.is_bound(tenant, made)
    assert reach.is_bound(other, made) is (other == tenant)


def test_what_a_reach_holds():
    assert Reach().holds("default", "any")
    assert not Reach().holds("bonds", "default")
    assert Reach("bonds", ("us",)).holds("bonds", "us")
    assert not Reach("bonds", ("us",)).holds("bonds", "hk")
    assert not Reach("bonds", ()).holds("bonds", "default")


async def test_a_task_has_the_reach_of_the_one_that_began_it():
    seen = {}

    async def look(name):
        await asyncio.sleep(0)
        seen[name] = (reach.current(), await asyncio.to_thread(reach.current))

    with reach.within(Reach("bonds")):
        task = asyncio.create_task(look("bonds"))
    await asyncio.gather(task, look("none"))
    assert seen == {"bonds": (Reach("bonds"),) * 2, "none": (Reach(),) * 2}
    assert reach.current_or_none() is None


def test_what_a_call_came_with():
    assert read_reach(Context()) == Reach()
    assert read_reach(Context(**{"quelea-reach": '{"tenant": "bonds"}'})) == Reach("bonds")
    told = '{"tenant": "bonds", "collections": ["us", "hk"]}'
    assert read_reach(Context(**{"quelea-reach": told})) == Reach("bonds", ("hk", "us"))
    for wrong in ("", "[]", "{}", '{"tenant": "No"}', '{"tenant": "bonds", "collections": 5}', '{"tenant": 5}'):
        with pytest.raises(InvalidInput):
            read_reach(Context(**{"quelea-reach": wrong}))
