/// A migration: the two times of a file that no program can set back. It has shipped when you read this: see ``Schema``.
///
/// NULL: not noted yet, or nothing that the file system tells. Both are nanoseconds since 1970.
enum StampSchema {
    static let all = [
        "ALTER TABLE photos ADD COLUMN changed INTEGER",
        "ALTER TABLE photos ADD COLUMN born INTEGER",
        "ALTER TABLE project_lists ADD COLUMN changed INTEGER",
        "ALTER TABLE project_lists ADD COLUMN born INTEGER",
    ]
}
