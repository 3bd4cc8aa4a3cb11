"""The committed notebooks run, and show what they would show now."""

import re
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from notebooks import NOTEBOOKS, WIDGET, clean, execute

COMMITTED = sorted(NOTEBOOKS.glob("*.ipynb"))


def words(text):
    """The text without layout, and without what differs from run to run."""
    return re.sub(r"0x[0-9a-f]+", "0x…", text).split()


def plain_outputs(notebook):
    """For each code cell, its printed text and the plain form of its results."""
    return [
        [
            words(output.text if output.output_type == "stream" else output.data["text/plain"])
            for output in cell.outputs
            if output.output_type == "stream" or "text/plain" in output.get("data", {})
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_there_are_notebooks():
    assert COMMITTED


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.name)
def test_a_committed_notebook_runs_and_its_outputs_are_current(path):
    # `execute` raises where a cell does.
    assert plain_outputs(clean(execute(path))) == plain_outputs(nbformat.read(path, as_version=4))


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.name)
def test_a_committed_notebook_is_clean_and_complete(path):
    notebook = nbformat.read(path, as_version=4)
    assert notebook == clean(notebook), "run `make notebooks`"
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    # Where it was made is nobody's business.
    assert not re.search(r"(?<![\w.])/(?:home|root|Users|work|tmp)/", path.read_text("utf-8"))


def test_clean_keeps_what_a_reader_sees_and_nothing_else():
    dirty = new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python", "version": "3.11.7"},
            "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}},
        },
        cells=[
            new_markdown_cell("# One question", metadata={"editable": False}),
            new_code_cell(
                "player",
                execution_count=7,
                metadata={"tags": ["keep"], "execution": {"iopub.execute_input": "2026-01-01"}},
                outputs=[
                    new_output("stream", name="stderr", text="100%|####|"),
                    new_output("stream", name="stdout", text="30 req"),
                    new_output("stream", name="stdout", text="uests\n"),
                    new_output(
                        "execute_result",
                        execution_count=7,
                        metadata={"isolated": True},
                        data={WIDGET: {"model_id": "a1"}, "text/html": "<p>", "text/plain": "P"},
                    ),
                ],
            ),
        ],
    )
    before = nbformat.writes(dirty)
    cleaned = clean(dirty)

    assert nbformat.writes(dirty) == before
    assert cleaned.metadata == {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    heading, code = cleaned.cells
    assert (heading.source, heading.metadata) == ("# One question", {})
    assert (code.metadata, code.execution_count) == ({"tags": ["keep"]}, 1)
    printed, shown = code.outputs
    assert printed.text == "30 requests\n"
    assert shown.data == {"text/html": "<p>", "text/plain": "P"}
    assert (shown.metadata, shown.execution_count) == ({}, 1)


def test_a_widget_without_static_html_keeps_its_view():
    view = {WIDGET: {"model_id": "a1"}, "text/plain": "IntSlider(value=0)"}
    notebook = new_notebook(
        cells=[new_code_cell("x", outputs=[new_output("display_data", data=view)])]
    )
    assert clean(notebook).cells[0].outputs[0].data == view


def test_execute_runs_in_the_folder_of_the_notebook_and_raises_what_a_cell_raises(tmp_path):
    path = tmp_path / "one.ipynb"
    source = "import os, sys\nprint(os.path.basename(os.getcwd()), sys.prefix)"
    nbformat.write(new_notebook(cells=[new_code_cell(source)]), path)
    (cell,) = execute(path).cells
    assert cell.outputs[0].text.split() == [tmp_path.name, sys.prefix]

    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), path)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        execute(path)
