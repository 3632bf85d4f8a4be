#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Codes of the operating system that say something about the archive's directory.
enum SystemCode {
  static let readOnly = EROFS
  static let notPermitted = EPERM
  static let noAccess = EACCES
  static let absent = ENOENT
  static let noDirectory = ENOTDIR
  static let stale = ESTALE
}
