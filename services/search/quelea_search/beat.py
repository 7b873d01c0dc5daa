"""The beat: python -m quelea_search.beat.

Celery's own beat, with its schedule in memory: what is due is told by the records of the pages in Redis, so nothing of
the beat's own is worth keeping. Several may run; the look itself is done by one worker at a time (web/refresh.py).
"""

from __future__ import annotations

import logging
import signal
import sys
from datetime import datetime

from celery import Celery, signals
from celery.apps.beat import Beat
from celery.schedules import schedstate, schedule
from quelea_kit.logging import get_logger, setup_logging

from quelea_search.core.jobs import Lane
from quelea_search.jobs.celery_app import LOOK, LOOK_FOR_FILINGS, make_app, queue_name
from quelea_search.settings import SearchSettings

log = get_logger(__name__)


class Every(schedule):
    """Each so many seconds, also after the clock was set back: Celery's own waits until it has caught up."""

    def is_due(self, last_run_at: datetime) -> schedstate:
        """Whether it is time, and the seconds until the next."""
        if self.maybe_make_aware(last_run_at) > self.maybe_make_aware(self.now()):
            return schedstate(is_due=True, next=self.seconds)
        return super().is_due(last_run_at)


def make_beat(settings: SearchSettings) -> Celery:
    """The application with the beat's schedule."""
    app = make_app(settings)
    looks = {
        "look for expired pages": (LOOK, settings.reread_seconds, settings.web),
        "look for new filings": (LOOK_FOR_FILINGS, settings.filings_look_seconds, bool(settings.filings_door)),
    }
    app.conf.beat_schedule = {
        name: {
            "task": task,
            "schedule": Every(seconds),
            # A look that no worker took in time is made by the next one.
            "options": {"queue": queue_name(settings, Lane.REREAD), "expires": seconds},
        }
        for name, (task, seconds, wanted) in looks.items()
        if wanted
    }
    app.conf.beat_max_loop_interval = min(settings.reread_seconds, settings.filings_look_seconds, 60.0)
    return app


def main() -> None:
    """Until SIGTERM or SIGINT."""
    # Celery's own handler comes later, and until then the first process of a container would ignore it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    settings = SearchSettings()
    setup_logging("search-beat", settings)
    logging.getLogger("celery.beat").setLevel(logging.WARNING)
    if not settings.web and not settings.filings_door:
        log.warning("beat_has_nothing_to_do", why="neither QUELEA_SEARCH_WEB nor QUELEA_SEARCH_FILINGS_DOOR is set")
    log.info("beat_starts", every_seconds=settings.reread_seconds)
    signals.setup_logging.connect(lambda **_: None, weak=False)  # ours stays
    Beat(app=make_beat(settings), scheduler="celery.beat:Scheduler", redirect_stdouts=False, quiet=True).run()


if __name__ == "__main__":
    main()
