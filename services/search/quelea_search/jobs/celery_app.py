"""The Celery application: how messages travel. What a message means is decided by the job records alone.

One task per document, not a chain of four: the stages hand each other tens of megabytes of parsed text that a chain
would carry through Redis, and a chain would parse a hundred queued files before it indexes the first. The stages are
seen in the job record instead (`stage`), and each can be repeated because the whole task can.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from celery import Celery
from kombu import Exchange, Queue
from kombu.exceptions import OperationalError
from quelea_kit.errors import Unavailable

from quelea_search.adapters.jobs_redis import JobStore
from quelea_search.core.jobs import Job, Lane
from quelea_search.settings import SearchSettings

TASK = "quelea_search.index_document"
LOOK = "quelea_search.look_for_expired_pages"
LOOK_FOR_FILINGS = "quelea_search.look_for_new_filings"

Send = Callable[[Job], None]
"""Puts a message for a job into the queue of its lane."""


def broker_url(redis_url: str) -> str:
    """redis-py's URL in kombu's words; they differ for unix sockets."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={database}"


def queue_name(settings: SearchSettings, lane: Lane) -> str:
    """The list in Redis that holds the messages of a lane."""
    return f"{settings.redis_prefix}:messages:{lane}"


def worker_queues(settings: SearchSettings) -> list[str]:
    """The queues that a worker with these settings takes messages from."""
    return [queue_name(settings, Lane(lane)) for lane in settings.worker_lanes]


def _queue(name: str) -> Queue:
    # An exchange of its own: queues that share one also share its messages.
    return Queue(name, Exchange(name, type="direct"), routing_key=name)


def make_app(settings: SearchSettings) -> Celery:
    """The application, for sending and for working."""
    app = Celery("quelea_search", broker=broker_url(settings.redis_url), set_as_current=False)
    app.conf.update(
        task_default_queue=queue_name(settings, Lane.UPLOAD),
        task_queues=[_queue(queue_name(settings, lane)) for lane in Lane],
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        # A message is acknowledged when its work is done; when the child dies it comes again at once.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_lost_wait=1.0,
        # No message waits in a worker that is busy: another worker could take it.
        worker_prefetch_multiplier=1,
        worker_concurrency=settings.worker_concurrency,
        worker_max_tasks_per_child=settings.worker_tasks_per_child,
        # The last resort, when not even the job's own limit and the reader's clock have ended it.
        task_time_limit=settings.job_seconds + 2 * settings.read_seconds,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_enable_remote_control=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            # A message of a killed worker comes again after this; the reaper has long sent another one by then.
            "visibility_timeout": int(2 * (settings.job_seconds + 2 * settings.read_seconds)),
            "global_keyprefix": "",
            "unacked_key": f"{settings.redis_prefix}:unacked",
            "unacked_index_key": f"{settings.redis_prefix}:unacked_index",
            "unacked_mutex_key": f"{settings.redis_prefix}:unacked_mutex",
            "socket_timeout": 5.0,
            "socket_connect_timeout": 5.0,
            "socket_keepalive": True,
            "max_retries": 1,
            # The queue that gave the last message is asked last for the next one.
            "queue_order_strategy": "round_robin",
        },
    )
    return app


def sender(settings: SearchSettings, app: Celery, store: JobStore) -> Send:
    """A function that puts a message for a job into the queue of its lane; Unavailable when Redis does not take it."""

    def send(job: Job) -> None:
        try:
            app.send_task(TASK, args=[job.id], queue=queue_name(settings, job.lane), retry=False)
        except OperationalError as error:
            raise Unavailable(f"Redis, which holds the queue, does not answer: {error}.", retry_after=2.0) from error
        store.mark_sent(job.id)

    return send
