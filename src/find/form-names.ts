import { type Message, msg } from '../base/message.ts';
import { QUESTIONS } from './questions.ts';
import { NEW_PERSON } from './resolve-reference.ts';

/** How a form for phones calls what it asks, so that what comes back from it is known again. Elements go by their own names. */

/** A place taken with the phone: four numbers in WGS 84, of which the first two are latitude and longitude. */
export const FORM_POINT = 'point';
/** In metres: of a point that is worse the phone warns, and so does whoever reads what comes back. */
export const FORM_WORST_ACCURACY_M = 20;
/** The group that is filled once for each photograph, and its one question. */
export const FORM_PHOTOS = 'photos';
export const FORM_PHOTO = 'photo';
/** What is chosen where a list lacks the right one, which is then written: a finder as `Surname, Given name`, a project's identifier. */
export const FORM_NOT_LISTED = NEW_PERSON;
export const FORM_WRITTEN = { nalezce: 'nalezce_jmeno', projekt: 'projekt_cislo' } as const;

export type WrittenElement = keyof typeof FORM_WRITTEN;

export function isWrittenToo(name: string): name is WrittenElement {
  return name in FORM_WRITTEN;
}

/** The question that makes a long list short; it says nothing of the find that the choice itself does not say. */
export function formGroupOf(name: string): string {
  return `${name}_skupina`;
}

/** Between the Czech and the English name of a choice: lists have one text for both. What stands before it names the choice. */
export const FORM_LABEL_GAP = ' · ';

const WRITTEN_LABELS = { nalezce: msg`Name of the finder`, projekt: msg`Identifier of the project` } as const;
const PHOTO_LABEL = msg`Photograph`;
const POINT_LABEL = msg`Place on the map`;

/** What a person reads above each question. */
export function formLabelOf(name: string): Message {
  switch (name) {
    case FORM_POINT:
      return POINT_LABEL;
    case FORM_PHOTO:
      return PHOTO_LABEL;
    case FORM_WRITTEN.nalezce:
      return WRITTEN_LABELS.nalezce;
    case FORM_WRITTEN.projekt:
      return WRITTEN_LABELS.projekt;
    default: {
      const question = QUESTIONS.find((each) => each.name === name);
      if (question !== undefined) return question.title;
      const narrowed = QUESTIONS.find((each) => formGroupOf(each.name) === name);
      if (narrowed === undefined) throw new Error(`the form asks for no ${name}`);
      const { title } = narrowed;
      return msg`${title}: group`;
    }
  }
}
