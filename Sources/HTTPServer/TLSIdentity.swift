/// What a server shows its clients: both as the text of PEM files, the certificate with its chain.
public struct TLSIdentity: Sendable {
  public var certificate: [UInt8]
  public var key: [UInt8]

  public init(certificate: [UInt8], key: [UInt8]) {
    self.certificate = certificate
    self.key = key
  }
}
