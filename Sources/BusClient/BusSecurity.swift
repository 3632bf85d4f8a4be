internal import BusTransport
internal import Primitives
internal import Synchronization

/// Who this program is to a broker that asks for keys, and which broker it believes.
///
/// The secret key is read once, from a file that nobody else may read, and is never printed.
public struct BusSecurity: Sendable {
  let pair: CurveKeyPair
  let server: CurvePublicKey

  /// - Parameters:
  ///   - keyFile: made by `eventbus keys generate`; mode 0600.
  ///   - serverKey: the broker's public key: 40 characters of Z85, or a file that holds it.
  /// - Throws: `.configuration`: which file or key cannot be used, and what to do.
  public init(keyFile: String, serverKey: String) throws(BusClientError) {
    do throws(CurveKeyFile.Failure) {
      pair = try CurveKeyFile.pair(keyFile)
      server = try CurveKeyFile.publicKey(orFile: serverKey).key
    } catch {
      throw .configuration(text: "\(error)")
    }
  }

  /// What others know this program by.
  public var publicKey: String { "\(pair.publicKey)" }

  var role: CurveRole { .client(pair, server: server) }

  private static let shared = Mutex<BusSecurity?>(nil)

  /// What producers, subscribers and administration made from now on use, unless their configuration
  /// says otherwise. Set it once, where the program starts; nil, the beginning, is without keys.
  public static var ofProcess: BusSecurity? {
    get { shared.withLock { $0 } }
    set { shared.withLock { $0 = newValue } }
  }
}

/// Why the broker, or the way to it, does not let this program in. Each may change by itself.
enum ConnectionDenial: Hashable {
  /// The broker does not know the key.
  case unknownKey(String)
  /// The broker asks for keys and none was given.
  case needsKey
  /// A key was given and the broker asks for none.
  case wantsNoKey
  /// The broker broke off: it has another key than the one that is believed, or it has none and was quicker to
  /// hang up than its greeting was to arrive.
  case brokeOff(String)

  var text: String {
    switch self {
    case .unknownKey(let key):
      "the broker does not know the key \(key): "
        + "`eventbus keys authorize '\(key)' --name NAME ...` on its machine lets it in"
    case .needsKey:
      "the broker asks for keys: give --curve-key FILE and --server-key KEY "
        + "(`eventbus keys generate` makes one)"
    case .wantsNoKey:
      "the broker asks for no keys: start it with --curve, or leave out --curve-key"
    case .brokeOff(let key):
      "the broker at this address breaks off: its key may not be \(key), which --server-key says "
        + "(`eventbus keys list` on its machine shows it), or it runs without --curve"
    }
  }
}
