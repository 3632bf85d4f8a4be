// Names, and what chooses among them.
//
//   event-name     a name that is valid is text of 1 to 200 bytes without U+0000
//   event-pattern  [pattern][newline][other pattern][newline][name]: matches as a plain search does, and
//                  covers only what it matches
//   event-path     [path or pattern][newline][path]: what parses has a text that parses equal; as a
//                  pattern it means just itself
internal import EventModel
internal import Primitives

let nameTargets = [
  FuzzTarget(
    "event-name", seeds: ["Game Ended", "$identify", "$HEAD/x", "\u{3000}", "ä"], run: checkName),
  FuzzTarget(
    "event-pattern",
    seeds: ["Game *\nGame Ended*\nGame Ended", "*a*b\\*\n*\nxaxb*", "a\\\\\na\\\na\\"],
    run: matchPattern),
  FuzzTarget(
    "event-path",
    seeds: [
      "#buttonClick:#UIButton#...#Shop*ViewController#...#state=1\n#buttonClick:#UIButton[3]#A#state=1",
      "#a\\:b:#UIView[0]#\\...#s=\n#a:#x", "#a:#*[*]#...#...\n#a:#b[1]#c#d=e#f=g", "#*:#a\n#x:#a",
    ], run: matchPath),
]

private func checkName(_ input: [UInt8]) throws(Violation) {
  let result = answer { () throws(EventNameError) in
    try EventName.validate(unsafe input.span.bytes)
  }
  guard case .success = result else { return }
  try require((1...200).contains(input.count) && !input.contains(0), "\(input)")
  try require(Array(input.text.utf8) == input, "it is not UTF-8")
}

private func matchPattern(_ input: [UInt8]) throws(Violation) {
  let (glob, rest) = input.parted(at: 0x0A)
  let (otherGlob, name) = rest.parted(at: 0x0A)
  guard glob.count <= 200, otherGlob.count <= 200, name.count <= 200 else { return }
  let pattern = EventPattern(glob: glob)
  let other = EventPattern(glob: otherGlob)
  let isMatch = pattern.matches(name)
  try require(isMatch == plainMatch(symbols(glob), name), "matches: \(isMatch)")
  try require(!isMatch || name.starts(with: pattern.literalPrefix), "matches without its prefix")
  if let exact = pattern.exactName { try require(isMatch == (name == exact), "exact: \(exact)") }
  try require(pattern.covers(pattern), "does not cover itself")
  if pattern.covers(other), other.matches(name) { try require(isMatch, "covers too much") }
}

/// The pattern's bytes, nil for each star.
private func symbols(_ glob: [UInt8]) -> [UInt8?] {
  var symbols: [UInt8?] = []
  var at = 0
  while at < glob.count {
    let isEscape =
      glob[at] == UInt8(ascii: "\\") && at + 1 < glob.count
      && (glob[at + 1] == UInt8(ascii: "*") || glob[at + 1] == UInt8(ascii: "\\"))
    symbols.append(isEscape ? glob[at + 1] : glob[at] == UInt8(ascii: "*") ? nil : glob[at])
    at += isEscape ? 2 : 1
  }
  return symbols
}

/// By all the places where a match can stand after each symbol: slow, and plainly right.
private func plainMatch(_ symbols: [UInt8?], _ name: [UInt8]) -> Bool {
  var places: Set<Int> = [0]
  for symbol in symbols {
    if let symbol {
      places = Set(places.filter { $0 < name.count && name[$0] == symbol }.map { $0 + 1 })
    } else if let first = places.min() {
      places = Set(first...name.count)
    }
  }
  return places.contains(name.count)
}

private func matchPath(_ input: [UInt8]) throws(Violation) {
  let (first, second) = input.parted(at: 0x0A)
  let path = answer { () throws(EventPathError) in try EventPath(parsing: second.text) }
  let pattern = answer { () throws(EventPathError) in try EventPathPattern(parsing: first.text) }
  if case .failure(let error) = pattern {
    try require((0...first.text.utf8.count).contains(error.position), "\(error)")
  }
  switch path {
  case .failure(let error):
    try require((0...second.text.utf8.count).contains(error.position), "\(error)")
  case .success(let path):
    let again = try accepted("a path's text") { () throws(EventPathError) in
      try EventPath(parsing: path.text)
    }
    try require(again == path && again.text == path.text, "\(path.text) became \(again.text)")
    try require(EventPathPattern(exactly: path).matches(path), "\(path.text) does not mean itself")
    let written = try accepted("a path is a pattern") { () throws(EventPathError) in
      try EventPathPattern(parsing: path.text)
    }
    try require(written.matches(path), "\(path.text), written, does not mean itself")
    if case .success(let pattern) = pattern {
      let both = EventPathMatcher([pattern, written]).firstMatch(path)
      try require(both == (pattern.matches(path) ? 0 : 1), "several patterns: \(both ?? -1)")
    }
  }
}
