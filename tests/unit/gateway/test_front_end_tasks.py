"""What chat front-ends ask for themselves, told from questions; prompts shortened to what tells them."""

import json

import pytest
from quelea_gateway.core.chats.front_end_tasks import perform, recognise

HISTORY = "USER: Hello\nASSISTANT: Hi\nUSER: What were Apple's net sales in Q3 2023?\nASSISTANT: 81,797 [1]\nMore."


def open_webui(words, history=HISTORY):
    return f"### Task:\n{words}\n### Chat History:\n<chat_history>\n{history}\n</chat_history>"


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        ('Generate a concise title. JSON format: { "title": "your concise title here" }', {"title": "Hello"}),
        ('Generate 1-3 broad tags. JSON format: { "tags": ["tag1"] }', {"tags": ["Finance", "Apple"]}),
        (
            'Whether to search? { "queries": ["query1"] } or { "queries": [] }',
            {"queries": ["What were Apple's net sales in Q3 2023?"]},
        ),
        (
            'Predict what comes next. JSON format: { "follow_ups": ["1", "2"] }',
            {"follow_ups": ["And the year before?", "How did it change over the last three years?"]},
        ),
        ('You are an autocompletion system. { "text": "<your_completion>" } <text>Top</text>', {"text": ""}),
    ],
)
def test_open_webui(words, reply):
    task = recognise(open_webui(words))
    assert json.loads(perform(task, ("Apple",))) == reply


def test_a_conversation_in_chinese():
    words = 'Generate { "tags": ["tag1"] }', 'Predict { "follow_ups": [] }'
    tags, further = (recognise(open_webui(one, "USER: 苹果2023年净销售额是多少？")) for one in words)
    assert json.loads(perform(tags, ("苹果",))) == {"tags": ["财经", "苹果"]}
    assert json.loads(perform(further))["follow_ups"][0] == "那前一年呢？"


def test_nothing_follows_a_question_without_a_period():
    task = recognise(open_webui('Predict { "follow_ups": [] }', "USER: Who audits Apple?"))
    assert json.loads(perform(task)) == {"follow_ups": []}


@pytest.mark.parametrize(
    "prompt",
    [
        "Provide a concise, 5-word-or-less title for the conversation, using its own language.\n\nConversation:\n",
        "Provide a concise, 5-word-or-less title for the conversation. Only the title.\n\nConversation:\n",
    ],
)
def test_librechat_wants_the_bare_title(prompt):
    said = "Conversation: how did Apple's total net sales and its services revenue develop over the last years?"
    assert perform(recognise(f"{prompt}User: {said}\nAI: Well.")) == (
        "Conversation: how did Apple's total net sales and its…"
    )


@pytest.mark.parametrize(
    "question",
    [
        "What were Apple's net sales?",
        "### Task:\nWhat were Apple's net sales?",
        'Summarise this: ### Task: title { "title": "x" } <chat_history>USER: a</chat_history>',
        "Give me a title for the conversation between Apple and Samsung",
        "Analyze this conversation and provide: the revenue",
        "",
    ],
)
def test_a_question_is_none(question):
    assert recognise(question) is None


def test_a_conversation_that_cannot_be_read_has_no_questions():
    task = recognise(open_webui('Generate { "title": "" }', "nobody: said this"))
    assert task.questions == ()
    assert json.loads(perform(task)) == {"title": "Quelea"}
