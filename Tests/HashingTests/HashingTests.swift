import Hashing
import Testing

/// Vectors from the standards.
@Suite struct HashingTests {
  private func hex(_ text: String) throws -> [UInt8] { try #require(Hex.decode(text)) }

  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
  ])
  func `SHA-256 is FIPS 180-4's`(text: String, digest: String) {
    let found = unsafe SHA256.digest(of: Array(text.utf8).span.bytes)
    #expect(Hex.encode(found) == digest)
  }

  @Test func `a digest over pieces is the one over all`() {
    var hash = SHA256()
    for byte in "abc".utf8 { unsafe hash.update([byte].span.bytes) }
    let whole = unsafe SHA256.digest(of: Array("abc".utf8).span.bytes)
    #expect(hash.digest() == whole)
  }

  @Test func `HMAC-SHA-256 is RFC 4231's, with a short and a long key`() throws {
    let short = unsafe HMACSHA256.code(
      key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8).span.bytes)
    #expect(
      Hex.encode(short) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let long = unsafe HMACSHA256.code(
      key: [UInt8](repeating: 0xaa, count: 131),
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8).span.bytes)
    #expect(
      Hex.encode(long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }

  @Test func `the keyed hash is SipHash-2-4 with 128 bits`() throws {
    let hash = KeyedHash(key: Array(0...15))
    // From the reference implementation's vectors: no bytes, and one byte of 0.
    let empty = unsafe hash.hash([UInt8]().span.bytes)
    #expect(empty == Hash128(high: 0xa381_7f04_ba25_a8e6, low: 0x6df6_7214_c755_0293))
    let zero = unsafe hash.hash([UInt8(0)].span.bytes)
    #expect(zero == Hash128(high: 0xda87_c1d8_6b99_af44, low: 0x3476_5911_9b22_fc45))
  }

  @Test func `another key gives another hash`() {
    let text = Array("anna".utf8)
    let a = unsafe KeyedHash(key: SecureRandom.bytes(16)).hash(text.span.bytes)
    let b = unsafe KeyedHash(key: SecureRandom.bytes(16)).hash(text.span.bytes)
    #expect(a != b)
  }

  @Test func `random bytes come in the number asked for, and differ`() {
    #expect(SecureRandom.bytes(0).isEmpty)
    #expect(SecureRandom.bytes(32).count == 32)
    #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
  }

  @Test(arguments: [([], [], true), ([1], [1], true), ([1], [2], false), ([1], [1, 2], false)])
  func `keys are equal by their bytes`(a: [UInt8], b: [UInt8], isEqual: Bool) {
    #expect(ConstantTime.isEqual(a, b) == isEqual)
  }

  @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")])
  func `base64 is RFC 4648's both ways`(text: String, encoded: String) {
    #expect(Base64.encode(Array(text.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(text.utf8))
  }

  @Test(arguments: ["Zg", "Z", "Zg==Zg==", "Zm9v!", " Zm9v"])
  func `what is no base64 is not read`(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test func `hexadecimal is read in either case and written in the lower`() throws {
    #expect(try hex("00ffAb") == [0, 255, 0xab])
    #expect(Hex.encode([0, 255, 0xab]) == "00ffab")
    #expect(Hex.decode("abc") == nil)
    #expect(Hex.decode("zz") == nil)
  }
}
