"""Counting tokens: counters, the model table, budgets."""

from chatmem_lab.tokens.budgets import budget
from chatmem_lab.tokens.counting import COUNT_KINDS, Count, TokenCounter, weakest
from chatmem_lab.tokens.langchain4j import langchain4j_formula
from chatmem_lab.tokens.models import Model, find_model, known_models, register_model
from chatmem_lab.tokens.openai_counter import OpenAICounter, counter, default_counter

__all__ = [
    "COUNT_KINDS",
    "Count",
    "Model",
    "OpenAICounter",
    "TokenCounter",
    "budget",
    "counter",
    "default_counter",
    "find_model",
    "known_models",
    "langchain4j_formula",
    "register_model",
    "weakest",
]
