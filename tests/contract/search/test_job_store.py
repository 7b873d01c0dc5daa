"""JobStore and Ledger: who may do what to a job, under repeated, lost and late messages."""

from __future__ import annotations

import fakeredis
import pytest
from quelea_kit.errors import Conflict, NotFound, Overloaded, Unavailable
from quelea_kit.reach import Reach
from quelea_search.adapters.jobs_redis import JobStore, LeaseLost
from quelea_search.adapters.ledger_redis import Ledger
from quelea_search.adapters.redis_base import connect
from quelea_search.core import jobs
from quelea_search.core.jobs import Job, JobState, Lane

PREFIX = "test"


def alive(_owner: str) -> bool:
    return False


def dead(_owner: str) -> bool:
    return True


@pytest.fixture
def make(search_store: JobStore):
    count = 0

    def make_job(document: str = "d1", uri: str = "u", *, stored: int | None = None, most: int = 10) -> Job:
        nonlocal count
        count += 1
        job = Job(f"j{count}", "a.pdf", document, uri, float(count), float(count))
        return search_store.submit(job, stored_pages=stored, max_queued=most)

    return make_job


@pytest.fixture
def ledger(search_redis: fakeredis.FakeRedis, search_clock) -> Ledger:
    return Ledger(search_redis, prefix=PREFIX, lease_seconds=15, clock=search_clock)


def done(job: Job) -> Job:
    return jobs.succeed(job, now=9, pages=4)


def test_the_same_bytes_share_a_job_while_it_has_not_ended(search_store: JobStore, make) -> None:
    first = make()
    assert make().id == first.id
    assert make(uri="elsewhere").id == first.id
    assert search_store.count(JobState.QUEUED) == 1


def test_bytes_that_are_stored_end_at_once_unchanged(search_store: JobStore, make) -> None:
    job = make(stored=4)
    assert (job.state, job.unchanged, job.done, job.total) == (JobState.SUCCEEDED, True, 4, 4)
    assert search_store.get(job.id) == job
    assert search_store.count(JobState.QUEUED) == 0


def test_going_back_to_an_older_version_waits_for_the_newer_one(search_store: JobStore, make) -> None:
    old, newer = make("d1"), make("d2")
    again = make("d1", stored=4)
    assert again.id not in (old.id, newer.id)
    assert again.state is JobState.QUEUED
    for job in (old, newer, again):
        for other in (old, newer, again):
            if other.id != job.id:
                assert search_store.claim(other.id, "w", alive) is None
        claimed = search_store.claim(job.id, "w", alive)
        assert claimed
        search_store.end(claimed, done)


def test_a_full_queue_refuses(make) -> None:
    make("d1", "u1", most=2)
    make("d2", "u2", most=2)
    with pytest.raises(Overloaded) as caught:
        make("d3", "u3", most=2)
    assert caught.value.retry_after


def test_each_lane_has_room_of_its_own(search_store: JobStore) -> None:
    def submit(number: int, lane: Lane) -> Job:
        job = Job(f"{lane}{number}", "a", f"{lane}{number}", f"{lane}{number}", float(number), 1.0, lane=lane)
        return search_store.submit(job, stored_pages=None, max_queued=2)

    for lane in Lane:
        submit(1, lane), submit(2, lane)
        with pytest.raises(Overloaded):
            submit(3, lane)
        assert [job.id for job in search_store.waiting(lane)] == [f"{lane}1", f"{lane}2"]
    assert search_store.count(JobState.QUEUED) == 6
    assert search_store.claim("refresh1", "w", alive)
    assert (search_store.count_waiting(Lane.REFRESH), search_store.count_waiting(Lane.UPLOAD)) == (1, 2)


def test_one_worker_at_a_time(search_store: JobStore, make) -> None:
    job = make()
    assert search_store.claim(job.id, "w1", alive)
    assert search_store.claim(job.id, "w2", alive) is None
    assert search_store.recover(job.id, alive) is None


def test_a_dead_owner_on_this_machine_is_not_waited_for(search_store: JobStore, make) -> None:
    first = search_store.claim(make().id, "w1", alive)
    assert first
    second = search_store.claim(first.id, "w2", dead)
    assert second
    assert second.attempts == 2
    for late in (
        lambda: search_store.beat(first),
        lambda: search_store.change(first, done),
        lambda: search_store.end(first, done),
    ):
        with pytest.raises(LeaseLost):
            late()
    assert search_store.end(second, done).state is JobState.SUCCEEDED


def test_a_silent_worker_loses_the_job(search_store: JobStore, search_redis, make) -> None:
    job = search_store.claim(make().id, "w1", alive)
    assert job
    search_redis.delete(f"{PREFIX}:lease:d1")  # what time does
    back = search_store.recover(job.id, alive)
    assert back
    assert back.state is JobState.QUEUED
    with pytest.raises(LeaseLost):
        search_store.beat(job)


def test_a_worker_that_was_silent_but_is_first_to_speak_keeps_the_job(search_store, search_redis, make) -> None:
    job = search_store.claim(make().id, "w1", alive)
    search_redis.delete(f"{PREFIX}:lease:d1")
    search_store.beat(job)
    assert search_store.recover(job.id, alive) is None


def test_the_third_loss_fails_the_job_and_remembers_what_it_may_have_left(search_store, ledger, make) -> None:
    job_id = make().id
    for _ in range(3):
        assert search_store.claim(job_id, "w", dead).state is JobState.RUNNING
    ended = search_store.claim(job_id, "w", dead)
    assert ended.state is JobState.FAILED
    assert ledger.leftovers() == {job_id: (Reach("default", ("default",)), "d1")}
    assert not ledger.is_active("d1")
    assert search_store.next_in_line("u") is None


def test_ended_jobs_are_not_claimed(search_store: JobStore, make) -> None:
    job = search_store.claim(make().id, "w", alive)
    assert job
    search_store.end(job, done)
    assert search_store.claim(job.id, "w", alive) is None
    assert search_store.claim("unknown", "w", alive) is None


def test_success_is_remembered_under_the_uri_and_counted(search_store, ledger, make) -> None:
    job = search_store.claim(make().id, "w", alive)
    search_store.end(job, done)
    assert ledger.stored_under("u") == "d1"
    assert ledger.totals()["jobs:succeeded"] == 1
    assert ledger.totals()["pages"] == 4
    ledger.forget_under("u", "another")
    assert ledger.stored_under("u") == "d1"
    ledger.forget_under("u", "d1")
    assert ledger.stored_under("u") == ""


def test_newest_first_and_forgetting(search_store, ledger, search_redis, make) -> None:
    made = [make(f"d{i}", f"u{i}") for i in range(5)]
    assert [job.id for job in search_store.newest(3)[0]] == [job.id for job in reversed(made[2:])]
    for job in made[:3]:
        search_store.end(search_store.claim(job.id, "w", alive), done)
    assert 0 < search_redis.ttl(f"{PREFIX}:job:{made[0].id}") <= 100
    assert search_redis.ttl(f"{PREFIX}:job:{made[4].id}") == -1
    search_redis.delete(f"{PREFIX}:job:{made[1].id}")
    assert ledger.trim(4) == 2
    assert {job.id for job in search_store.newest(10)[0]} == {made[i].id for i in (2, 3, 4)}
    with pytest.raises(NotFound):
        search_store.get(made[0].id)
    assert ledger.trim(0) == 1  # waiting jobs are never forgotten


def test_a_document_is_held_by_one_at_a_time(search_store, ledger, make) -> None:
    ledger.hold("d1", "me")
    with pytest.raises(Conflict):
        ledger.hold("d1", "you")
    job = make()
    assert search_store.claim(job.id, "w", alive) is None
    ledger.release("d1", "you")
    with pytest.raises(Conflict):
        ledger.hold("d1", "you")
    ledger.release("d1", "me")
    with pytest.raises(Conflict):  # its job waits
        ledger.hold("d1", "you")
    assert search_store.claim(job.id, "w", alive)


def test_workers_are_alive_as_long_as_they_say_so(ledger, search_clock) -> None:
    ledger.worker_lives("w")
    search_clock.now += 10
    assert ledger.workers() == {"w": pytest.approx(10)}
    search_clock.now += 10
    assert ledger.workers() == {}


def test_redis_that_does_not_answer_is_unavailable() -> None:
    client = connect("redis://127.0.0.1:1/0")
    store = JobStore(client, prefix=PREFIX, max_attempts=3, lease_seconds=1, keep_seconds=1, dead_seconds=1)
    with pytest.raises(Unavailable):
        store.get("j")


def test_a_heartbeat_that_comes_late_does_not_hold_what_its_page_was_before_it_was_read(
    search_store: JobStore, search_redis: fakeredis.FakeRedis, make
) -> None:
    job = search_store.claim(make("address").id, "me", alive)
    assert job is not None
    taken = search_store.take_id(job, document_id="bytes", uri="u", page="{}")
    search_store.beat(job)  # it set out before
    assert not search_redis.exists(f"{PREFIX}:lease:address")
    search_store.beat(taken)
    assert search_redis.get(f"{PREFIX}:lease:bytes") == job.token
    search_store.end(taken, done)
    with pytest.raises(LeaseLost):
        search_store.beat(job)
