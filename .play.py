from tests.support.conversation import Conversation, play
import sys, traceback
from pathlib import Path
import tests.support.conversation as c
for p in sys.argv[1:]:
    try:
        play(Path(p)); print(p,'ok')
    except Exception as e:
        traceback.print_exc(limit=-3)
