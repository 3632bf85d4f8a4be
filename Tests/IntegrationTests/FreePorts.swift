import BusTransport
import Primitives
import Testing

/// Ports for a broker that must come back on the same ones.
enum FreePorts {
  /// The first of five ports that nobody has. Below the range from which the system chooses, so that no
  /// connection takes one while the broker is away.
  ///
  /// - Parameter distances: further ports from there that must be free too.
  static func base(also distances: [Int] = []) throws -> Int {
    for _ in 0..<100 {
      let base = Int.random(in: 2000...3200) * 10
      if (Array(0..<5) + distances).allSatisfy({ isFree(base + $0) }) { return base }
    }
    throw NoneFree()
  }

  struct NoneFree: Error {}

  private static func isFree(_ port: Int) -> Bool {
    do {
      let context = try ZeroMQContext()
      let socket = try Socket(context, .pull, SocketOptions())
      try socket.bind("tcp://127.0.0.1:\(port)")
      return true
    } catch {
      return false
    }
  }
}
