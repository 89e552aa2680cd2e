import type { Issue } from '../base/issue.ts';

export type Photograph = {
  readonly path: string;
  readonly sizeBytes: number;
  /** Detected from the bytes. */
  readonly mimeType: string;
  /** Of the file's bytes, lower-case hexadecimal. */
  readonly sha512Hex: string;
};
export type InspectedPhotograph = { readonly photograph?: Photograph; readonly issues: readonly Issue[] };

export declare function inspectPhotograph(
  path: string,
  options?: { readonly maxBytes?: number; readonly signal?: AbortSignal },
): Promise<InspectedPhotograph>;
