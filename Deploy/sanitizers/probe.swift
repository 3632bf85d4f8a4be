// What ThreadSanitizer must see before its word counts: `probe right` is guarded and must give no report, `probe wrong`
// leaves the guard out on one side and must give one.
import Glibc
import Synchronization

final class Shared: @unchecked Sendable {
  let mutex = Mutex(())
  nonisolated(unsafe) var guarded = 0
  let isPublished = Atomic(false)
  nonisolated(unsafe) var published = 0
}

func start(_ body: @escaping () -> Void) -> pthread_t {
  final class Start {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { argument in
      Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Start(body)).toOpaque())
  return thread
}

@main enum Probe {
  static func main() {
    let isRight = CommandLine.arguments.last == "right"
    let shared = Shared()
    // So often that the lock is contended, which is the part that is not inlined.
    let count = 100_000
    let first = start {
      shared.published = 1
      shared.isPublished.store(true, ordering: .releasing)
      for _ in 0..<count { shared.mutex.withLock { _ in shared.guarded += 1 } }
    }
    let second = start {
      while !shared.isPublished.load(ordering: .acquiring) {}
      shared.published += 1
      for _ in 0..<count {
        if isRight {
          shared.mutex.withLock { _ in shared.guarded += 1 }
        } else {
          shared.guarded += 1
        }
      }
    }
    pthread_join(first, nil)
    pthread_join(second, nil)
  }
}
