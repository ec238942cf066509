"""What the storage in files says when the system, and not the bytes, is at fault."""


class DiskFailure(Exception):
    """The system refused to read, write or rename: this log dir can be used no longer (Kafka takes it offline, and goes on with the others).

    `folder` is the log dir, `why` the system's reason. What was being written may be there in part; it is never acknowledged.
    """

    def __init__(self, folder: str, why: str) -> None:
        super().__init__(f"log dir {folder}: {why}")
        self.folder, self.why = folder, why


class LostFile(DiskFailure):
    """A file of one partition is gone, or is shorter than it was written: the log dir is as good as before, and that partition is not.

    `path` is relative to the log dir, and begins with the partition's folder.
    """

    def __init__(self, folder: str, why: str, path: str) -> None:
        super().__init__(folder, why)
        self.path = path
