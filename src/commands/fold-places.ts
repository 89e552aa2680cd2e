import { type Issue, warningIssue } from '../base/issue.ts';
import { msgid, ngettext } from '../base/language.ts';
import { KEEPS_PLACE, TELLS_PLACE } from '../flows/kept-photographs.ts';

/** A camera that writes the place writes it into every photograph: one warning says it of all. */
export function foldPlaces(issues: readonly Issue[]): Issue[] {
  const told = issues.filter(({ rule }) => rule === TELLS_PLACE).length;
  const kept = issues.filter(({ rule }) => rule === KEEPS_PLACE).length;
  const folded: Issue[] = [];
  if (told > 1) {
    const message = ngettext(
      msgid`${told} photograph tells where it was taken (GPS). The service takes that out of EXIF, and compresses the picture again for it; --strip-gps takes it out here and leaves the picture as it is.`,
      `${told} photographs tell where they were taken (GPS). The service takes that out of EXIF, and compresses the pictures again for it; --strip-gps takes it out here and leaves the pictures as they are.`,
      told,
    );
    folded.push(warningIssue(TELLS_PLACE, message));
  }
  if (kept > 1) {
    const message = ngettext(
      msgid`${kept} HEIC photograph tells where it was taken (GPS). Neither the service nor pas can take that out; to hide the place, save it as JPEG.`,
      `${kept} HEIC photographs tell where they were taken (GPS). Neither the service nor pas can take that out; to hide the places, save them as JPEG.`,
      kept,
    );
    folded.push(warningIssue(KEEPS_PLACE, message));
  }
  const isFolded = ({ rule }: Issue): boolean => (rule === TELLS_PLACE && told > 1) || (rule === KEEPS_PLACE && kept > 1);
  return [...issues.filter((issue) => !isFolded(issue)), ...folded];
}
