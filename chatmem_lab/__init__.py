"""chatmem_lab: replay recorded conversations under chat-memory policies.

Public names are declared in ``__init__.pyi`` and loaded when they are first used.

>>> import chatmem_lab as cml
>>> run = cml.replay(cml.datasets.load("support")[0], cml.TokenWindow(4_000), model="gpt-5")
>>> bool(run.requests["input_tokens"].max() <= 4_000)
True
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
