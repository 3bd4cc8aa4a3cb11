"""Run the project's notebooks, clean them, write them: `make notebooks`.

`tests/test_notebooks.py` uses the same two functions, so what is committed is what the
tests have run.
"""

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"

# A white list: whatever else an editor, a kernel or a widget manager leaves behind goes.
CELL_METADATA = ("tags",)
NOTEBOOK_METADATA = {
    "kernelspec": ("display_name", "language", "name"),
    "language_info": ("file_extension", "mimetype", "name"),
}
WIDGET = "application/vnd.jupyter.widget-view+json"


def execute(path: Path, *, timeout: int = 600) -> NotebookNode:
    """Run every cell of the notebook at `path` in a new kernel of this environment."""
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as sockets:
        # Files and not ports: two kernels that start at once cannot take the same one.
        connection = {"transport": "ipc", "ip": f"{sockets}/kernel"}
        client = NotebookClient(
            notebook,
            timeout=timeout,
            kernel_name="python3",
            config=Config({"KernelManager": connection}),
            resources={"metadata": {"path": str(path.parent)}},
            store_widget_state=False,
        )
        return client.execute()


def clean(notebook: NotebookNode) -> NotebookNode:
    """Keep only what says something to a reader, in a copy.

    A live widget needs its kernel: where it left static HTML beside it, only that stays.
    Progress bars and warnings on stderr differ from run to run and go as well.
    """
    cleaned = nbformat.from_dict(notebook)
    cleaned.metadata = NotebookNode(
        {
            key: NotebookNode({k: notebook.metadata[key][k] for k in kept if k in found})
            for key, kept in NOTEBOOK_METADATA.items()
            if (found := notebook.metadata.get(key))
        }
    )
    for cell in cleaned.cells:
        cell.metadata = NotebookNode(
            {key: cell.metadata[key] for key in CELL_METADATA if key in cell.metadata}
        )
        cell.pop("attachments", None)
        if cell.cell_type == "code":
            kept = [_cleaned_output(o) for o in cell.outputs if not _is_noise(o)]
            cell.outputs = _streams_whole(kept)
    _number_anew(cleaned)
    return cleaned


def _is_noise(output: NotebookNode) -> bool:
    return output.output_type == "stream" and output.name == "stderr"


def _streams_whole(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """What was printed in one go is one output, in however many pieces the kernel sent it."""
    whole: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream" and whole and whole[-1].output_type == "stream":
            whole[-1].text += output.text
        else:
            whole.append(output)
    return whole


def _cleaned_output(output: NotebookNode) -> NotebookNode:
    if "metadata" in output:
        output.metadata = NotebookNode()
    if "data" in output and "text/html" in output.data:
        output.data.pop(WIDGET, None)
    return output


def _number_anew(notebook: NotebookNode) -> None:
    code = (cell for cell in notebook.cells if cell.cell_type == "code" and cell.source)
    for number, cell in enumerate(code, start=1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number


def main(arguments: list[str] | None = None) -> int:
    """Run, clean and write the notebooks named, or all of them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    paths = parser.parse_args(arguments).paths or sorted(NOTEBOOKS.glob("*.ipynb"))
    for path in paths:
        print(path.name, flush=True)
        nbformat.write(clean(execute(path)), path)
    if not paths:
        print(f"no notebooks in {NOTEBOOKS.name}/", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
