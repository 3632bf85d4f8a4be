// SwiftUI for apps that send events: what a view shows and what people do with it become events without
// a line in the view's own code.
//
// All that is not SwiftUI itself (triggers, groups, builders, dispatch) is Analytics' and tested on Linux.
// What stands inside `#if canImport(SwiftUI)` is type-checked on Linux, against declarations of the same
// shape, and that is all that can be claimed for it there.
@_exported public import Analytics
