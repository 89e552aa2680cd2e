/** A photograph's name in a table -> the file's absolute path, or why it is refused. */
export type ResolvePhoto = (name: string) => PhotoPath;
export type PhotoPath = { readonly path: string } | { readonly rule: string; readonly problem: string };

/** Names are relative to `root` and may not leave it, by `..` or through a symbolic link. */
export declare function photoResolver(root: string): ResolvePhoto;
