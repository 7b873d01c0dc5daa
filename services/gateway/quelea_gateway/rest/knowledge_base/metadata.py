"""What an uploader says of a file: checked here, and it wins over what the file says of itself."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from quelea.common.v1 import common_pb2
from quelea_kit.errors import InvalidInput

from quelea_gateway.rest.fields import Day, Many, Short

_PERIOD = re.compile(
    r"(?:FY\s{0,8}+)?(?P<year>(?:19|20)\d\d)(?:\s{0,8}+[-/]?\s{0,8}+Q(?P<quarter>[1-4]))?", re.IGNORECASE
)


class PeriodIn(BaseModel):
    """A reporting period in full."""

    model_config = ConfigDict(extra="forbid")

    label: Short = ""
    fiscal_year: int = Field(default=0, ge=0, le=9999)
    fiscal_quarter: int = Field(default=0, ge=0, le=4)
    end_date: Day | None = None


class MetadataIn(BaseModel):
    """Every field may be left out; period is a label ("FY2023 Q3") or an object."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(max_length=1000)] = ""
    uri: Annotated[str, Field(max_length=2000)] = ""
    company: Short = ""
    company_aliases: Many = []
    ticker: Short = ""
    document_type: Short = ""
    language: Annotated[str, Field(pattern=r"^([a-z]{2,3})?$")] = ""
    published: Day | None = None
    period: Short | PeriodIn = ""

    def wire(
        self, provenance: common_pb2.Provenance.ValueType = common_pb2.PROVENANCE_UPLOAD
    ) -> common_pb2.DocumentMetadata:
        """As the wire has it; what was left out stays empty."""
        return common_pb2.DocumentMetadata(
            title=self.title,
            uri=self.uri,
            company=self.company,
            company_aliases=self.company_aliases,
            ticker=self.ticker,
            document_type=self.document_type,
            language=self.language,
            published=self.published or "",
            period=_period(self.period),
            provenance=provenance,
        )


def _period(period: str | PeriodIn) -> common_pb2.FiscalPeriod | None:
    if isinstance(period, PeriodIn):
        return common_pb2.FiscalPeriod(
            label=period.label,
            fiscal_year=period.fiscal_year,
            fiscal_quarter=period.fiscal_quarter,
            end_date=period.end_date or "",
            file_label=period.label,
        )
    if not period:
        return None
    match = _PERIOD.fullmatch(period.strip())
    year, quarter = (int(match["year"]), int(match["quarter"] or 0)) if match else (0, 0)
    return common_pb2.FiscalPeriod(label=period, fiscal_year=year, fiscal_quarter=quarter, file_label=period)


def _one(value: Any, filename: str) -> MetadataIn:
    try:
        return MetadataIn.model_validate(value)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "metadata"
        raise InvalidInput(
            f"metadata of {filename}: {where}: {fault['msg']}", details={"field": "metadata", "filename": filename}
        ) from error


def _parse(field: str) -> Any:
    try:
        return json.loads(field)
    except RecursionError:
        raise InvalidInput("metadata is nested too deeply.", details={"field": "metadata"}) from None
    except ValueError as error:
        raise InvalidInput(f"metadata is not valid JSON: {error}", details={"field": "metadata"}) from error


def metadata_for(filenames: list[str], fields: list[str]) -> list[MetadataIn]:
    """One for each file.

    `fields` are the request's form fields `metadata`: none; as many as there are files, in their order; or one, which
    is an array in the files' order, an object by file name, or a single object that holds for every file.

    Raises:
        InvalidInput: it is not JSON, a field is unknown or malformed, or the counts differ.
    """
    values: list[Any]
    if not fields:
        values = [{} for _ in filenames]
    elif len(fields) == 1:
        given = _parse(fields[0])
        if isinstance(given, list):
            values = given
        elif isinstance(given, dict) and given and set(given) <= set(filenames) - set(MetadataIn.model_fields):
            values = [given.get(name, {}) for name in filenames]
        else:
            values = [given for _ in filenames]
    else:
        values = [_parse(field) for field in fields]
    if len(values) != len(filenames):
        raise InvalidInput(
            f"Got {len(filenames)} files and {len(values)} metadata objects; send one for each file, in order.",
            details={"field": "metadata"},
        )
    return [_one(value or {}, name) for value, name in zip(values, filenames, strict=True)]
