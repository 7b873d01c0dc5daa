"""Prompts over gRPC: the same versions as REST, for administrators."""

import grpc
import pytest
from quelea.gateway.v1 import prompts_pb2 as pb
from quelea.gateway.v1.prompts_pb2_grpc import PromptServiceStub
from quelea_gateway import keys
from quelea_gateway.adapters.services.fake_generator import PROMPTS
from quelea_gateway.testing import standing

TERSE = PROMPTS[0][3].replace("Answer.", "Answer in one sentence.")
ANSWER = {"name": "answer", "language": "en"}


async def test_a_prompt_is_saved_compared_put_in_force_rolled_back_and_deleted(stand):
    async with grpc.aio.insecure_channel(stand.grpc) as channel:
        prompts = PromptServiceStub(channel)
        saved = (await prompts.SaveVersion(pb.SaveVersionRequest(**ANSWER, text=TERSE, note="shorter"))).version
        assert (saved.author, saved.note, saved.active, saved.built_in) == ("local", "shorter", False, False)
        told = await prompts.CompareVersions(pb.CompareVersionsRequest(**ANSWER, after=saved.version))
        assert [one.text for one in told.lines if one.kind == pb.PROMPT_LINE_KIND_ADDED] == [
            "version: en-edit-1",
            "Answer in one sentence.",
        ]
        now = await prompts.ActivateVersion(pb.ActivateVersionRequest(**ANSWER, version=saved.version))
        assert now.template.version == saved.version
        found = (await prompts.ListVersions(pb.ListVersionsRequest(**ANSWER))).versions
        assert [(one.version, one.active) for one in found] == [(saved.version, True), ("en-1.0a", False)]
        listed = (await prompts.ListTemplates(pb.ListTemplatesRequest())).templates
        assert [one.built_in for one in listed if (one.name, one.language) == ("answer", "en")] == [False]
        back = await prompts.RollBackVersion(pb.RollBackVersionRequest(**ANSWER))
        assert back.template.built_in
        await prompts.DeleteVersion(pb.DeleteVersionRequest(**ANSWER, version=saved.version))
        assert len((await prompts.ListVersions(pb.ListVersionsRequest(**ANSWER))).versions) == 1


async def test_what_does_not_fit_is_refused_with_the_reason(stand):
    async with grpc.aio.insecure_channel(stand.grpc) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            text = TERSE.replace("$context", "")
            await PromptServiceStub(channel).SaveVersion(pb.SaveVersionRequest(**ANSWER, text=text))
        assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert "lacks $context" in refused.value.details()


async def test_only_administrators_are_served(tmp_path):
    file = tmp_path / "keys.json"
    metadata = [("authorization", f"Bearer {keys.create(file, 'reader', administrator=False)}")]
    async with standing(auth="keys", keys_file=str(file)) as stand, grpc.aio.insecure_channel(stand.grpc) as channel:
        prompts = PromptServiceStub(channel)
        for call, request in [
            (prompts.ListTemplates, pb.ListTemplatesRequest()),
            (prompts.ListVersions, pb.ListVersionsRequest(**ANSWER)),
            (prompts.SaveVersion, pb.SaveVersionRequest(**ANSWER, text=TERSE)),
            (prompts.DeleteVersion, pb.DeleteVersionRequest(**ANSWER, version="en-edit-1.0")),
            (prompts.CompareVersions, pb.CompareVersionsRequest(**ANSWER)),
            (prompts.ActivateVersion, pb.ActivateVersionRequest(**ANSWER, version="built-in")),
            (prompts.RollBackVersion, pb.RollBackVersionRequest(**ANSWER)),
        ]:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call(request, metadata=metadata)
            assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
