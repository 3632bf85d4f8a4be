internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Looks at a fact that nothing announces, such as another process's files, until it holds.
///
/// False when it did not within `limit`. Ask only what is cheap: it is asked every 2 ms.
public func waitUntil(
  _ limit: Duration = .seconds(20), _ holds: () throws -> Bool
) rethrows -> Bool {
  let deadline = SystemClock.monotonic() + Sanitizer.patience(limit)
  while try !holds() {
    if SystemClock.monotonic() > deadline { return false }
    usleep(2000)
  }
  return true
}

/// The same in an async test, where a blocked thread would be missed by what is waited for.
///
/// Async tests share a few threads with all that block, so that a test may not have its turn for longer than
/// the limit: it looks 500 times at least before it gives up.
public func eventually(
  _ limit: Duration = .seconds(20), _ holds: () async throws -> Bool
) async rethrows -> Bool {
  let deadline = SystemClock.monotonic() + Sanitizer.patience(limit)
  var looks = 0
  while try await !holds() {
    looks += 1
    if looks >= 500, SystemClock.monotonic() > deadline { return false }
    do { try await Task.sleep(for: .milliseconds(2)) } catch { return false }
  }
  return true
}
