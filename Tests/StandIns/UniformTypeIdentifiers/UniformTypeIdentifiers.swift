// What this package uses of UniformTypeIdentifiers, for type-checking on systems without it.

public struct UTType: Hashable, Sendable {
  public static let image = UTType()
}
