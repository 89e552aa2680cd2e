import type { ExpandedTags } from 'exifreader';

export type ExifTags = ExpandedTags;

/** What stands beside the picture. Undefined for what is no picture, or has nothing beside it. */
export async function readExifTags(bytes: Buffer): Promise<ExifTags | undefined> {
  const { default: reader } = await import('exifreader');
  try {
    return reader.load(bytes, { expanded: true });
  } catch {
    return undefined;
  }
}
