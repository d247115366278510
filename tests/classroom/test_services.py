"""LMSs over the network are those that extras bring, and each can what it says."""

from types import SimpleNamespace

import pytest

from autograder import seams
from autograder.classroom import services
from autograder.classroom.services import Delivery, Service


@pytest.fixture
def two(monkeypatch):
    """An extra with two services, of which one only takes grades."""
    plain = Service(lambda *_: Delivery((), True))
    rich = Service(plain.send_grades, lambda *_: [], lambda *_: Delivery((), True))
    module = SimpleNamespace(SERVICES={"plain": plain, "rich": rich})
    monkeypatch.setattr(seams, "modules", lambda seam: [SimpleNamespace(), module])
    services.all_services.cache_clear()
    yield {"plain": plain, "rich": rich}
    services.all_services.cache_clear()


def test_services_are_those_of_all_extras(two):
    assert services.all_services() == two


def test_a_service_says_what_it_can(two):
    assert services.names_supporting("send_grades") == ("plain", "rich")
    assert (
        services.names_supporting("fetch")
        == services.names_supporting("send_feedback")
        == ("rich",)
    )
