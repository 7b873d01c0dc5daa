"""What a question or a search is asked with, as JSON: a contract, fields are added, never renamed or removed."""

from __future__ import annotations

from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from quelea_gateway.core import model as core
from quelea_gateway.rest.fields import Collections, Day, Many, Short


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FiltersIn(_In):
    """All given fields must hold; within a field, any of its values. A single value may stand without its list."""

    companies: Many = Field(default=[], validation_alias=AliasChoices("companies", "company"))
    tickers: Many = Field(default=[], validation_alias=AliasChoices("tickers", "ticker"))
    document_types: Many = Field(default=[], validation_alias=AliasChoices("document_types", "document_type", "type"))
    periods: Many = Field(default=[], validation_alias=AliasChoices("periods", "period"))
    published_from: Day = ""
    published_to: Day = ""
    languages: Many = Field(default=[], validation_alias=AliasChoices("languages", "language"))
    document_ids: Many = Field(default=[], validation_alias=AliasChoices("document_ids", "document_id"))

    def core(self) -> core.Filters:
        """As the pipeline has them."""
        return core.Filters(
            companies=tuple(self.companies),
            tickers=tuple(self.tickers),
            document_types=tuple(self.document_types),
            periods=tuple(self.periods),
            published_from=self.published_from,
            published_to=self.published_to,
            languages=tuple(self.languages),
            document_ids=tuple(self.document_ids),
        )


class TurnIn(_In):
    """One turn of the conversation so far."""

    role: Literal["user", "assistant"]
    content: str = Field(validation_alias=AliasChoices("content", "text"))


class AskIn(_In):
    """POST /v1/ask."""

    question: str = Field(min_length=1, examples=["What were Apple's net sales in the third quarter of fiscal 2023?"])
    history: list[TurnIn] = []
    as_of: Day | None = Field(default=None, description="The day of the question, YYYY-MM-DD; today when left out.")
    route: Literal["auto", "local", "web"] = Field(
        default="auto",
        description="auto: the web too when the local evidence is not good enough. web is refused where there is none.",
    )
    k: int | None = Field(default=None, ge=1, le=200, description="Passages retrieved.")
    j: int | None = Field(default=None, ge=1, le=100, description="How many of them the reader may see, at most.")
    stream: bool = Field(default=False, description="Server-sent events: started, delta, verdicts, answer, error.")
    filters: FiltersIn = FiltersIn()
    collections: Collections = []
    model: Short = ""
    strict: bool | None = Field(
        default=None,
        description="Sentences with a figure that the evidence does not support are withheld; the deployment's "
        "setting when left out. A stream then has its text in one piece, once it was checked.",
    )
    format: Literal["json", "markdown"] = Field(
        default="json", description="markdown: the answer with its sources as text; not with stream."
    )
    conversation_id: Short = Field(
        default="",
        description="A saved conversation: its last turns are the history, and the answer is saved at its end. An "
        "answer that cannot be saved is given with a notice.",
    )
    group: Short = Field(
        default="",
        description="Your name for questions that are asked side by side, of several companies say: none of them is "
        "history of another, and their answers are one exchange of the conversation.",
    )


class SearchIn(_In):
    """POST /v1/search."""

    query: str = Field(min_length=1)
    k: int | None = Field(default=None, ge=1, le=200)
    filters: FiltersIn = FiltersIn()
    collections: Collections = []
    as_of: Day | None = None
