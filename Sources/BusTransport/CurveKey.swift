internal import CZeroMQ
internal import Primitives

/// The half of a CURVE key pair that others may know, and by which they are known: 32 bytes, written as
/// 40 characters of Z85.
public struct CurvePublicKey: Hashable, Sendable, CustomStringConvertible {
  public let bytes: [UInt8]

  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// Nil for what is not 40 characters of Z85.
  public init?(_ text: some StringProtocol) {
    guard let bytes = Z85.decode(Array(text.utf8)) else { return nil }
    self.init(bytes: bytes)
  }

  public var description: String { String(decoding: Z85.encode(bytes), as: UTF8.self) }
}

/// The half that nobody else may know. It is never printed, and wiped when the last user lets it go;
/// libzmq keeps a copy in each socket that uses it.
@safe public final class CurveSecretKey: @unchecked Sendable {
  static let byteCount = 32
  // Written once in `init`; read until `deinit` wipes it.
  private let storage: UnsafeMutableRawPointer

  /// Takes 40 characters of Z85; nil for anything else. Wiping `text` is the caller's.
  init?(z85 text: [UInt8]) {
    guard text.count == 40, var bytes = Z85.decode(text) else { return nil }
    defer { bytes.wipe() }
    unsafe storage = .allocate(byteCount: Self.byteCount, alignment: 8)
    unsafe bytes.withUnsafeBytes { source in
      unsafe storage.copyMemory(from: source.baseAddress!, byteCount: Self.byteCount)
    }
  }

  deinit {
    unsafe wipeMemory(storage, Self.byteCount)
    unsafe storage.deallocate()
  }

  /// A copy, which the caller wipes.
  func copy() -> [UInt8] {
    unsafe [UInt8](UnsafeRawBufferPointer(start: storage, count: Self.byteCount))
  }

  /// The same as 40 characters of Z85.
  func copyText() -> [UInt8] {
    var bytes = copy()
    defer { bytes.wipe() }
    return Z85.encode(bytes)
  }
}

/// A CURVE identity.
public struct CurveKeyPair: Sendable {
  public let publicKey: CurvePublicKey
  public let secretKey: CurveSecretKey

  /// The pair of a secret key.
  public init(_ secretKey: CurveSecretKey) throws(TransportError) {
    var text = secretKey.copyText() + [0]
    defer { text.wipe() }
    var result = [UInt8](repeating: 0, count: 41)
    try check("zmq_curve_public") { unsafe zmq_curve_public(&result, text) }
    self.secretKey = secretKey
    publicKey = CurvePublicKey(bytes: Z85.decode(Array(result.prefix(40)))!)!
  }

  /// A new pair, from the system's randomness.
  public static func generate() throws(TransportError) -> CurveKeyPair {
    while true {
      var secret = [UInt8](repeating: 0, count: 41)
      var result = [UInt8](repeating: 0, count: 41)
      defer { secret.wipe() }
      try check("zmq_curve_keypair") { unsafe zmq_curve_keypair(&result, &secret) }
      // A key that begins with `-` would look like an option on a command line.
      guard result[0] != UInt8(ascii: "-") else { continue }
      var text = Array(secret.prefix(40))
      defer { text.wipe() }
      return try CurveKeyPair(CurveSecretKey(z85: text)!)
    }
  }
}

/// How a socket is protected: by CURVE, as one of its two sides.
public enum CurveRole: Sendable {
  /// Binds: who connects must know its public key, and is asked about by the context's authenticator,
  /// which is told `domain`. Without an authenticator libzmq would let anybody in: see
  /// ``ConnectionAuthenticator``.
  case server(CurveSecretKey, domain: String)
  /// Connects, as somebody, to one whose public key it knows.
  case client(CurveKeyPair, server: CurvePublicKey)
}

extension SocketSettings {
  func apply(_ role: CurveRole) throws(TransportError) {
    switch role {
    case .server(let secretKey, let domain):
      precondition(!domain.isEmpty, "an authenticator knows a socket by its domain")
      try set("curve_server", ZMQ_CURVE_SERVER, 1)
      try setSecret(secretKey)
      try set("zap_domain", ZMQ_ZAP_DOMAIN, Array(domain.utf8))
    case .client(let pair, let server):
      try set("curve_serverkey", ZMQ_CURVE_SERVERKEY, server.bytes)
      try set("curve_publickey", ZMQ_CURVE_PUBLICKEY, pair.publicKey.bytes)
      try setSecret(pair.secretKey)
    }
  }

  private func setSecret(_ key: CurveSecretKey) throws(TransportError) {
    var bytes = key.copy()
    defer { bytes.wipe() }
    try set("curve_secretkey", ZMQ_CURVE_SECRETKEY, bytes)
  }
}
