internal import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The host in a bus's address. libzmq asks for its name again with each try and says nothing when nobody
/// knows it: a wrong name looks like a broker that is away.
public enum BusHost {
  static let usualReason = "is `eventbus broker` running there?"

  /// Why nobody may have answered there, and what to do. Costs what `unknown` does.
  public static func whySilent(_ address: String) -> String {
    guard let unknown = unknown(in: address) else { return usualReason }
    return "\(unknown): correct the address, or make the name known to this machine"
  }

  /// That the host of an address is unknown; nil where it is known, or nothing came in time.
  ///
  /// Asks the name service, on a thread of its own; blocks for `limit` at most.
  public static func unknown(in address: String, limit: Duration = .seconds(2)) -> String? {
    name(in: address).flatMap { host in
      whyUnknown(host, limit).map { "unknown host '\(host)' (\($0))" }
    }
  }

  /// The host of `tcp://HOST:PORT`, behind a source address if there is one; nil for what has no host.
  static func name(in address: String) -> String? {
    let scheme = "tcp://"
    guard address.hasPrefix(scheme) else { return nil }
    let place = address.dropFirst(scheme.count).split(separator: ";").last ?? ""
    guard let colon = place.lastIndex(of: ":") else { return nil }
    var host = place[..<colon]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    return host.isEmpty || host == "*" ? nil : String(host)
  }

  /// What the name service says against a name; nil when it has an address, or nothing came in time.
  private static func whyUnknown(_ host: String, _ limit: Duration) -> String? {
    do {
      let signal = try WaitSignal()
      let answer = Answer()
      // It goes on by itself where nothing answers: the system's own limit is up to half a minute.
      let thread = try OwnedThread(name: "eb-host") {
        let reason = Self.lookUp(host)
        answer.reason.withLock { $0 = reason }
        signal.signal()
      }
      thread.detach()
      guard signal.wait(until: deadline(after: limit)) else { return nil }
      return answer.reason.withLock { $0 }
    } catch {
      return nil
    }
  }

  private final class Answer: Sendable {
    let reason = Mutex<String?>(nil)
  }

  private static func lookUp(_ host: String) -> String? {
    var hints = unsafe addrinfo()
    #if canImport(Glibc)
      unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      unsafe hints.ai_socktype = SOCK_STREAM
    #endif
    var found: UnsafeMutablePointer<addrinfo>?
    let result = unsafe getaddrinfo(host, nil, &hints, &found)
    if let found = unsafe found { unsafe freeaddrinfo(found) }
    return result == 0 ? nil : unsafe String(cString: gai_strerror(result))
  }
}
