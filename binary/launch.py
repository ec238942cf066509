"""What the binary runs."""

from kafkadouble.__main__ import main

raise SystemExit(main())
