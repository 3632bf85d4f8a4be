// A key file, in the form of libzmq's own certificates, which other languages' libraries read
// (pyzmq: `zmq.auth.load_certificate`):
//
//   # any number of comments
//   metadata
//       name = "shop"
//   curve
//       public-key = "40 characters of Z85"
//       secret-key = "40 characters of Z85"
//
// A file with a secret key has mode 0600 and is refused with any other that lets others in; beside it
// lies FILE.pub, the same without the secret. Lines of other names are skipped.
public import Primitives

/// Reads and writes key files.
public enum CurveKeyFile {
  public enum Failure: Error, Sendable, CustomStringConvertible {
    case file(PrivateFile.Failure)
    case transport(TransportError)
    /// What it lacks or has wrong.
    case content(path: String, String)

    public var description: String {
      switch self {
      case .file(let failure): failure.description
      case .transport(let error): error.description
      case .content(let path, let text): "\(path) \(text)"
      }
    }
  }

  private static let limit = 16 << 10

  /// The key pair of a file with a secret key.
  public static func pair(_ path: String) throws(Failure) -> CurveKeyPair {
    var bytes: [UInt8]
    do throws(PrivateFile.Failure) { bytes = try PrivateFile.read(path, limit: limit) } catch {
      throw .file(error)
    }
    defer { bytes.wipe() }
    guard var text = value(of: "secret-key", in: bytes) else {
      throw .content(
        path: path, "has no secret-key: `eventbus keys generate FILE` makes a file that has one")
    }
    defer { text.wipe() }
    guard let secret = CurveSecretKey(z85: text) else {
      throw .content(path: path, "has a secret-key that is not 40 characters of Z85")
    }
    let pair: CurveKeyPair
    do throws(TransportError) { pair = try CurveKeyPair(secret) } catch { throw .transport(error) }
    if let stated = value(of: "public-key", in: bytes),
      CurvePublicKey(String(decoding: stated, as: UTF8.self)) != pair.publicKey
    {
      throw .content(path: path, "has a public-key that does not belong to its secret-key")
    }
    return pair
  }

  /// The public key of a file: one with a secret, or one without, which anybody may read.
  public static func publicKey(_ path: String) throws(Failure) -> CurvePublicKey {
    var bytes: [UInt8]
    do throws(PrivateFile.Failure) {
      bytes = try PrivateFile.read(path, limit: limit, isSecret: false)
    } catch { throw .file(error) }
    defer { bytes.wipe() }
    guard let text = value(of: "public-key", in: bytes),
      let key = CurvePublicKey(String(decoding: text, as: UTF8.self))
    else {
      throw .content(
        path: path, "has no public-key of 40 characters of Z85: `eventbus keys generate` makes one")
    }
    return key
  }

  /// The public key that a text gives: a file that holds one, else the key itself. A file that is there
  /// wins, since a path can be 40 characters of Z85 too.
  ///
  /// - Returns: with it, whether it is from a file.
  public static func publicKey(
    orFile text: String
  ) throws(Failure) -> (key: CurvePublicKey, isFile: Bool) {
    do throws(Failure) {
      return (try publicKey(text), true)
    } catch {
      guard case .file(let failure) = error, failure.isMissing, let key = CurvePublicKey(text)
      else { throw error }
      return (key, false)
    }
  }

  /// Writes `path` (0600) and `path.pub`.
  ///
  /// - Parameter name: for whoever reads the file.
  public static func write(
    _ pair: CurveKeyPair, to path: String, name: String, replacing: Bool
  ) throws(Failure) {
    var secret = pair.secretKey.copyText()
    defer { secret.wipe() }
    var text = Array("# eventbus key: keep this file secret, mode 0600\n".utf8)
    // Room for all of it, so that growing leaves no copy behind.
    text.reserveCapacity(4096)
    defer { text.wipe() }
    text += publicPart(pair.publicKey, name)
    text += Array("    secret-key = \"".utf8)
    text += secret
    text += Array("\"\n".utf8)
    let open =
      Array("# eventbus key: the public half, for who is to know it\n".utf8)
      + publicPart(pair.publicKey, name)
    do throws(PrivateFile.Failure) {
      try PrivateFile.write(text, to: path, replacing: replacing)
      try PrivateFile.write(open, to: path + ".pub", mode: 0o644)
    } catch { throw .file(error) }
  }

  private static func publicPart(_ key: CurvePublicKey, _ name: String) -> [UInt8] {
    let name = name.filter { $0 != "\"" && !$0.isNewline }
    return Array(
      "metadata\n    name = \"\(name)\"\ncurve\n    public-key = \"\(key)\"\n".utf8)
  }

  /// What stands in quotes behind `name =`. A `#` begins a comment only at the head of a line: keys have
  /// them.
  private static func value(of name: String, in bytes: [UInt8]) -> [UInt8]? {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      var rest = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      guard rest.starts(with: name.utf8) else { continue }
      rest = rest.dropFirst(name.utf8.count).drop { $0 == UInt8(ascii: " ") }
      guard rest.first == UInt8(ascii: "=") else { continue }
      let quote = UInt8(ascii: "\"")
      guard let start = rest.firstIndex(of: quote), let end = rest.lastIndex(of: quote), start < end
      else { continue }
      return Array(rest[(start + 1)..<end])
    }
    return nil
  }
}
