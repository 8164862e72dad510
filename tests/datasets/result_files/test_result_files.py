"""Files of promptfoo, Inspect and Langfuse: candidates and rows come out, and what is wrong is named."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from carrel.datasets.result_files.answers import AnswerTable, Unreadable
from carrel.datasets.result_files.reading import read_results
from carrel.datasets.schemas import Source

FILES = Path(__file__).with_name("files")


def read_file(name: str, source: Source | None = None) -> AnswerTable:
    answers = read_results(name, (FILES / name).read_bytes(), source)
    assert answers is not None
    return answers


def read(document: Any, name: str = "outputs.json", source: Source | None = None) -> AnswerTable:
    answers = read_results(name, json.dumps(document).encode(), source)
    assert answers is not None
    return answers


def result(test: int, by: int, output: Any, **more: Any) -> dict[str, Any]:
    provider = {"id": ("openai:gpt-5", "anthropic:claude")[by % 2], "label": ""}
    return {
        "testIdx": test,
        "promptIdx": by,
        "vars": {"question": f"What is {test}?"},
        "provider": provider,
        "prompt": {"raw": f"Answer: What is {test}?", "label": "Answer: {{question}}"},
        "response": {"output": output},
        **more,
    }


def promptfoo(*results: Any) -> dict[str, Any]:
    return {"evalId": "eval-1", "results": {"version": 3, "results": list(results), "stats": {}}, "config": {}}


def test_tests_of_promptfoo_are_rows_and_providers_are_candidates() -> None:
    failed = result(1, 1, None, response=None, error="timeout")
    answers = read(promptfoo(result(1, 0, {"sum": 3}), result(0, 0, "zero"), result(0, 1, "nought"), failed))
    assert answers.candidates == ("openai:gpt-5", "anthropic:claude")
    assert (answers.id, answers.inputs) == ("test", ("question",))
    assert answers.rows == [
        {"test": "0", "question": "What is 0?", "openai:gpt-5": "zero", "anthropic:claude": "nought"},
        {"test": "1", "question": "What is 1?", "openai:gpt-5": '{"sum": 3}', "anthropic:claude": None},
    ]


def test_prompts_of_one_provider_are_candidates_by_their_labels_or_numbers() -> None:
    short = {"raw": "Be brief", "label": "brief"}
    assert read(promptfoo(result(0, 0, "a", prompt=short), result(0, 2, "b"))).candidates == ("brief", "prompt 2")
    four = [result(0, prompt, "a") for prompt in range(4)]
    assert read(promptfoo(*four)).candidates[2:] == ("openai:gpt-5, prompt 2", "anthropic:claude, prompt 3")


def test_results_of_promptfoo_may_come_in_lines() -> None:
    lines = "".join(json.dumps(result(test, prompt, "yes")) + "\n" for test in range(2) for prompt in range(2))
    answers = read_results("outputs.jsonl", lines.encode())
    assert answers is not None
    assert (len(answers.rows), len(answers.candidates)) == (2, 2)


def sample(sample_id: str | int, **more: Any) -> dict[str, Any]:
    said = {"message": {"role": "assistant", "content": [{"type": "reasoning"}, {"type": "text", "text": "Paris"}]}}
    return {
        "id": sample_id,
        "epoch": 1,
        "input": "Capital of France?",
        "target": "Paris",
        "output": {"model": "openai/gpt-5", "choices": [said]},
        **more,
    }


def test_a_log_that_inspect_packed_with_zstd_is_read() -> None:
    """Inspect 0.3.285 wrote it."""
    answers = read_file("inspect-zstd.eval")
    assert answers.candidates == ("fake/one",)
    assert [(row["id"], (row["input"] or "")[:20], row["expected"]) for row in answers.rows] == [
        ("1", "Which is a fruit?\nA)", "B"),
        ("2", "Which is a metal?\nA)", "B"),
    ]


def test_messages_that_langfuse_has_as_json_in_texts_are_read() -> None:
    answers = read_file("v2.json")
    assert answers.candidates == ("gpt-x", "claude-y")
    assert answers.rows[0]["input"] == "system: Be kind.\n\nuser: Where is my refund?"
    assert answers.rows[0]["gpt-x"] == 'gpt-x: about "Where is my refund?"'


def test_versions_of_a_prompt_meet_at_the_same_question() -> None:
    answers = read_file("prompts.json")
    assert answers.candidates == ("1", "2")
    assert [(row["input"], row["1"], row["2"]) for row in answers.rows] == [
        ("A?", "v1 A?", "v2 A?"),
        ("B?", "v1 B?", "v2 B?"),
    ]


def test_a_question_that_was_asked_twice_is_two_rows_of_a_group() -> None:
    records = [
        {"id": f"{model}{number}", "input": "q", "output": f"{model} {number}", "traceId": "t", "model": model}
        for number in range(2)
        for model in ("a", "b")
    ]
    answers = read(records, source="langfuse")
    assert answers.group == "item"
    assert [(row["a"], row["b"]) for row in answers.rows] == [("a 0", "b 0"), ("a 1", "b 1")]


def log(*samples: Any) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"model": "openai/gpt-5"}, "samples": list(samples)}


def test_samples_of_an_inspect_log_are_rows_and_its_model_is_the_candidate() -> None:
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital?"}]
    failed = sample(10, input=asked, target=["Paris", "Lutetia"], error={"message": "timeout"})
    answers = read(log(failed, sample(2, choices=["Paris", "Rome"])))
    assert (answers.id, answers.expected, answers.group) == ("id", "expected", None)
    assert [tuple(row.values()) for row in answers.rows] == [
        ("2", "2", "Capital of France?\nA) Paris\nB) Rome", "Paris", "Paris"),
        ("10", "10", "system: Be brief.\n\nuser: Capital?", "Paris | Lutetia", None),
    ]


def test_epochs_of_a_sample_are_rows_of_one_group() -> None:
    answers = read(log(sample("a"), sample("a", epoch=2)))
    assert ([row["id"] for row in answers.rows], answers.group) == (["a#1", "a#2"], "sample")


def test_a_scorer_of_inspect_may_give_several_values() -> None:
    scores = {"exact": {"value": "C"}, "judge": {"value": {"tone": 0.5, "stars": 4}}}
    answers = read(log(sample("a", scores=scores)))
    assert sorted(answers.grades) == ["exact", "judge, tone"]


def packed(files: dict[str, Any], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", packing) as file:
        for name, document in files.items():
            file.writestr(name, json.dumps(document))
    return body.getvalue()


def test_an_eval_file_is_read_as_its_json_log() -> None:
    header = {name: value for name, value in log().items() if name != "samples"}
    long = sample(1, input="attachment://abc", attachments={"abc": "A long question"})
    body = packed({"header.json": header, "samples/1_epoch_1.json": long, "summaries.json": []})
    answers = read_results("log.eval", body)
    assert answers is not None
    assert answers.rows[0]["input"] == "A long question"
    with pytest.raises(Unreadable, match="damaged"):
        read_results("log.eval", body[:-40])
    with pytest.raises(Unreadable, match=r"no header\.json"):
        read_results("log.eval", packed({"a.json": 1}))
    with pytest.raises(Unreadable, match="inspect log convert"):
        read_results("log.eval", packed({"header.json": header}, zipfile.ZIP_LZMA))


def observation(number: int, model: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"o{number}",
        "traceId": f"t{number}",
        "type": "GENERATION",
        "model": model,
        "input": [{"role": "user", "content": "Why?"}],
        "output": {"role": "assistant", "content": f"By {model}"},
        **more,
    }


def test_generations_of_langfuse_with_one_input_are_a_row_and_models_are_candidates() -> None:
    span = {"id": "s", "traceId": "t1", "type": "SPAN", "input": None, "output": None}
    other = observation(3, "gpt", input={"q": 1}, output=None, expectedOutput="one")
    answers = read([observation(1, "gpt"), span, observation(2, "claude"), other])
    assert answers.candidates == ("gpt", "claude")
    assert [list(row.values())[1:] for row in answers.rows] == [
        ["Why?", None, "By gpt", "By claude"],
        ['{"q": 1}', "one", None, None],
    ]


def test_records_of_one_model_are_told_apart_by_version_release_or_name() -> None:
    traces = [
        {"id": f"t{number}", "projectId": "p", "name": "chat", "release": release, "input": "Why?", "output": release}
        for number, release in enumerate(("v1", "v2"))
    ]
    assert read({"data": traces, "meta": {}}).candidates == ("v1", "v2")
    lines = "\n".join(json.dumps(trace) for trace in traces)
    answers = read_results("traces.jsonl", lines.encode())
    assert answers is not None
    assert answers.candidates == ("v1", "v2")


def csv_of(*rows: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def lines_of(*records: Any) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def harness(number: int, answer: str, filtered: str, score: float) -> dict[str, Any]:
    asked = {"gen_args_0": {"arg_0": f"Q{number}", "arg_1": {"until": []}}}
    return {"doc_id": number, "doc": {}, "target": "8", "arguments": asked, "resps": [[answer]]} | {
        "filter": filtered,
        "metrics": ["exact_match"],
        "exact_match": score,
    }


V2 = [
    {"vars": {"q": asked}, "prompt": {"raw": f"Say {asked}", "display": "Say {{q}}"}, "provider": provider}
    | {"response": {"output": f"{provider} {asked}"}, "score": 1, "gradingResult": {"componentResults": [{}]}}
    for asked in ("a", "b")
    for provider in ("one", "two")
]
CHOICES = {
    "doc_id": 3,
    "doc": {},
    "target": 1,
    "arguments": {f"gen_args_{n}": {"arg_0": "Fruit?", "arg_1": text} for n, text in enumerate([" car", " pear"])},
    "resps": [[["-3.5", "False"]], [["-0.5", "True"]]],
    "metrics": ["acc"],
    "acc": 1.0,
}
OPENAI = {
    "object": "eval.run.output_item",
    "datasource_item_id": 7,
    "datasource_item": {"question": "2+2", "ground_truth": "4"},
    "results": [{"name": "exact", "passed": True, "score": 1.0}],
    "sample": {"input": [{"role": "user", "content": "2+2?"}], "output": [{"role": "assistant", "content": "4"}]}
    | {"model": "gpt-5"},
}
DEEPEVAL = {"input": "Q", "actualOutput": "A", "expectedOutput": "E", "metricsData": [{"name": "Bias", "score": 0.25}]}
LANGFUSE = (
    ["id", "projectId", "type", "model", "input", "output", "scores"],
    [
        "o1",
        "p",
        "GENERATION",
        "gpt",
        '[{"role":"user","content":"Why?"}]',
        '{"role":"assistant","content":"So"}',
        '{"tone":[0.5]}',
    ],
    ["o2", "p", "GENERATION", "claude", '[{"role":"user","content":"Why?"}]', '"No"', '{"stars":[5]}'],
)
PROMPTFOO = (
    ["q", "[one] Say {{q}}", "[two] " + "Say {{q}}, and explain at length why that is so. " * 5],
    [
        "a",
        "[PASS] (1.00)\n\nyes\n\nPass Reason: fine",
        "[FAIL] (0.50, tone: 0.50)\n\nToo short\n---\nno\n\nFail Reason: x",
    ],
    ["b", "[PASS] sure", "[ERROR] timeout"],
)


@pytest.mark.parametrize(
    ("name", "body", "rows", "grades"),
    [
        (
            "out.csv",
            csv_of(*PROMPTFOO),
            [("0", "a", "yes", "no"), ("1", "b", "sure", None)],
            {"promptfoo": ["1", "0.5"]},
        ),
        (
            "out.yaml",
            yaml.safe_dump(promptfoo(*V2)).encode(),
            [("0", "a", "one a", "two a"), ("1", "b", "one b", "two b")],
            {"promptfoo": ["1", "1"]},
        ),
        ("o.csv", csv_of(*LANGFUSE), [("Why?", None, "So", "No")], {"tone": ["0.5"]}),
        ("gpt.jsonl", lines_of(OPENAI), [("7", "2+2?", "4", "4")], {"exact": ["1"]}),
        (
            "failed.jsonl",
            lines_of(
                OPENAI, OPENAI | {"datasource_item_id": 8, "sample": {"input": [], "output": [], "model": "gpt-5"}}
            ),
            [("7", "2+2?", "4", "4"), ("8", '{"question": "2+2", "ground_truth": "4"}', "4", None)],
            {"exact": ["1"]},
        ),
        (
            "tools.jsonl",
            lines_of(
                {"type": "GENERATION", "model": "gpt", "id": "o", "traceId": "t", "input": "Why?"}
                | {"output": {"role": "assistant", "content": None, "tool_calls": [{"type": "function"}]}}
            ),
            [("Why?", None, '[{"type": "function"}]')],
            {},
        ),
        (
            "m/samples_a.jsonl",
            lines_of(harness(1, "8", "strict", 0), harness(1, "8", "loose", 1)),
            [("1", "Q1", "8", "8")],
            {"exact_match (strict)": ["0"], "exact_match (loose)": ["1"]},
        ),
        ("m/samples_b.jsonl", lines_of(CHOICES), [("3", "Fruit?", "pear", "pear")], {"acc": ["1"]}),
        (
            "m/samples_c.jsonl",
            lines_of(CHOICES | {"target": "pear", "acc": 0.0, "resps": [[["-0.5", "True"]], [["-3.5", "False"]]]}),
            [("3", "Fruit?", "pear", "car")],
            {"acc": ["0"]},
        ),
        ("run.json", json.dumps({"testCases": [DEEPEVAL]}).encode(), [("Q", "E", "A")], {"Bias": ["0.25"]}),
        (
            "r.json",
            json.dumps({"testRunData": {"testCases": [DEEPEVAL]}}).encode(),
            [("Q", "E", "A")],
            {"Bias": ["0.25"]},
        ),
        ("e.json", json.dumps({"test_results": [DEEPEVAL]}).encode(), [("Q", "E", "A")], {"Bias": ["0.25"]}),
        ("d.csv", csv_of(["input", "actual_output", "expected_output"], ["Q", "A", "E"]), [("Q", "E", "A")], {}),
        (
            "r.csv",
            csv_of(["user_input", "response", "reference", "faithfulness", "rank"], ["Q", "A", "E", "0.5", "9"]),
            [("Q", "E", "A")],
            {"faithfulness": ["0.5"]},
        ),
        (
            "r.jsonl",
            lines_of({"question": "Q", "answer": "A", "contexts": ["c"], "ground_truth": "E"}),
            [("Q", "E", "A")],
            {},
        ),
    ],
)
def test_files_of_other_programs_say_what_was_asked_and_how_it_was_graded(
    name: str, body: bytes, rows: list[tuple[str | None, ...]], grades: dict[str, list[str]]
) -> None:
    answers = read_results(name, body)
    assert answers is not None
    beside = {column for columns in answers.grades.values() for column in columns.values()}
    cells = [tuple(cell for column, cell in row.items() if column not in beside) for row in answers.rows]
    # Ids that follow from the question are long.
    assert [row[-len(wanted) :] for row, wanted in zip(cells, rows, strict=True)] == rows
    found = {
        grade: [answers.rows[0][column] for column in columns.values()] for grade, columns in answers.grades.items()
    }
    assert found == grades


def test_columns_that_somebody_names_make_a_file_a_table() -> None:
    body = csv_of(["question", "answer", "contexts"], ["Q", "A", "c"])
    assert read_results("r.csv", body, named=True) is None
    answers = read_results("r.csv", body)
    assert answers is not None
    assert answers.candidates == ("r",)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (promptfoo(), "results.results is empty"),
        (promptfoo({"prompt": {}}), "nothing says what was asked"),
        (promptfoo({"prompt": {}}, result(0, 0, "a")), r"results.results\[0\].testIdx is missing"),
        (promptfoo(result(0, 0, "a"), result(0, 0, "b")), r"results\[1\] is the answer to test 0 by prompt 0"),
        (promptfoo(result(0, 0, "a", provider=None)), r"results\[0\].provider is missing"),
        (promptfoo(result(0, 0, "a", vars={}, prompt=None)), "nothing says what was asked"),
        (promptfoo(result(0, 0, "a", vars={"openai:gpt-5": "b"})), "openai:gpt-5 is the name of a variable"),
        (log(), "the log has no samples"),
        (log(sample(1)) | {"eval": {}}, "eval.model is missing"),
        (log(sample(1), sample(1)), r"samples\[1\] has the id '1', which is there already"),
        (log(sample(1), {}), r"samples\[1\].id is missing"),
        (log(sample(1, input=None)), r"samples\[0\].input is missing"),
        ([observation(1, "gpt", input=None)], "'o1' has no input"),
        ([observation(1, "gpt"), observation(2, "a"), observation(3, "")], "'o3' has no model"),
        ({"something": "else"}, "no file of promptfoo, Inspect, Langfuse"),
    ],
)
def test_what_is_wrong_is_named(document: Any, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read(document)


def test_a_table_is_none_of_them_and_a_wrong_guess_can_be_corrected() -> None:
    rows = [{"id": "1", "input": "a", "output": "b", "projectId": "p", "model": "m"}]
    assert read_results("rows.csv", b"question,gpt\na,b\n") is None
    assert read_results("rows.json", json.dumps([{"question": "a"}]).encode()) is None
    assert read_results("rows.jsonl", b"no json") is None
    assert read(rows).candidates == ("m",)
    assert read_results("rows.json", json.dumps(rows).encode(), "table") is None
    named: tuple[Source, ...] = ("promptfoo", "inspect", "langfuse")
    for source in named:
        with pytest.raises(Unreadable):
            read({}, source=source)
        with pytest.raises(Unreadable, match="ends in"):
            read_results("rows.txt", b"", source)
