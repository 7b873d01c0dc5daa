"""A gateway with a web of fakes: the question that needs it, the one that does not, and how a test asks."""

ABROAD = "How many vehicles did Rivian Automotive deliver in 2023?"
AT_HOME = "What were Apple's total net sales?"
AS_OF = "2024-02-01"


async def ask(web, question=ABROAD, **body):
    response = await web.post("/v1/ask", json={"question": question, "as_of": AS_OF, **body})
    assert response.status_code == 200, response.text
    return response.json()
