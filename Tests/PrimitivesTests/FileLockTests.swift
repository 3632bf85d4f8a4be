import Primitives
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

struct FileLockTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func opened() -> Int32 {
    unsafe open(folder.file("lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  }

  @Test func `one open file has it, until it is closed`() {
    let (first, second) = (opened(), opened())
    #expect(FileLock.take(first))
    #expect(!FileLock.take(second) && errno == EWOULDBLOCK)
    close(first)
    #expect(FileLock.take(second))
    close(second)
  }

  @Test func `who lets go of it in a moment is waited for`() throws {
    let (first, second) = (opened(), opened())
    #expect(FileLock.take(first))
    let holder = try OwnedThread(name: "holder") { close(first) }
    #expect(FileLock.take(second))
    holder.join()
    close(second)
  }

  @Test func `what is no open file is no lock that another has`() {
    #expect(!FileLock.take(-1) && errno == EBADF)
  }
}
