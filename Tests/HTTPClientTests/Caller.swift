internal import HTTPClient
internal import Testing

/// A client that makes one request at a time and waits for it.
final class Caller {
  private var client: HTTPClient

  init(_ configuration: HTTPClientConfiguration = .init()) throws {
    client = try HTTPClient(configuration)
  }

  func call(_ call: HTTPCall) throws -> HTTPCompletion {
    let id = try client.start(call)
    // The suites' time limit bounds it.
    while true {
      for completion in client.wait(.seconds(10)) where completion.id == id { return completion }
    }
  }

  func reply(_ call: HTTPCall) throws -> HTTPReply { try self.call(call).result.get() }

  func failure(_ call: HTTPCall) throws -> HTTPFailure {
    switch try self.call(call).result {
    case .failure(let failure): return failure
    case .success(let reply):
      Issue.record("answered \(reply.status) in place of a failure")
      throw Answered()
    }
  }

  struct Answered: Error {}
}

/// The failure that `body` throws; nil when it throws none.
func failure<T>(_ body: () throws -> T) -> HTTPFailure? {
  do {
    _ = try body()
    return nil
  } catch { return error as? HTTPFailure }
}
