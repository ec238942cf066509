"""The log against a model that is a list: whatever is done to both, they hold the same records,
watermarks, epochs and producers.
"""

from hypothesis import settings

from tests.server.log.log_machine import LogMachine

LogMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
test_the_log_is_a_list = LogMachine.TestCase
