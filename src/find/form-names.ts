import { type Message, msg } from '../base/message.ts';
import { QUESTIONS } from './questions.ts';

/** How a form for phones calls what it asks, so that what comes back from it is known again. Elements go by their own names. */

/** A place taken with the phone: four numbers in WGS 84, of which the first two are latitude and longitude. */
export const FORM_POINT = 'point';
/** In metres: of a point that is worse the phone warns, and so does whoever reads what comes back. */
export const FORM_WORST_ACCURACY_M = 20;
/** The group that is filled once for each photograph, and its one question. */
export const FORM_PHOTOS = 'photos';
export const FORM_PHOTO = 'photo';
/** A finder who is in no list, as `Surname, Given name`; asked where {@link NEW_PERSON} is chosen. */
export const FORM_NEW_FINDER = 'nalezce_jmeno';

/** The question that makes a long list short; it says nothing of the find that the choice itself does not say. */
export function formGroupOf(name: string): string {
  return `${name}_skupina`;
}

/** Between the Czech and the English name of a choice: lists have one text for both. What stands before it names the choice. */
export const FORM_LABEL_GAP = ' · ';

const NEW_FINDER_LABEL = msg`Name of the finder`;
const PHOTO_LABEL = msg`Photograph`;
const POINT_LABEL = msg`Place on the map`;

/** What a person reads above each question. */
export function formLabelOf(name: string): Message {
  switch (name) {
    case FORM_POINT:
      return POINT_LABEL;
    case FORM_PHOTO:
      return PHOTO_LABEL;
    case FORM_NEW_FINDER:
      return NEW_FINDER_LABEL;
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
