public import Primitives

/// A port that takes connections and never says a word: a TLS handshake hangs there.
public final class SilentServer: Sendable {
  public let port: UInt16
  private let listening: StubSocket

  public init() throws(SystemError) {
    // The kernel completes connections that nobody accepts.
    listening = try StubSocket.listening(port: 0)
    port = try listening.port()
  }
}
