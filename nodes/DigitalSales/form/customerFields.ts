import { z } from 'zod';
import { parseDocument, stripDocument } from '../domain/document';
import { parsePhone } from '../domain/phone';
import { textField } from './fields';

const EMAIL_SHAPE = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Schemas for the customer's data; without checks only the punctuation is dropped. */
export function customerFields(checked: boolean) {
	return {
		email: checked
			? textField.refine((email) => EMAIL_SHAPE.test(email), 'is not an e-mail address')
			: textField,
		phone: z.unknown().transform((value, context): string => {
			const result = parsePhone(value);
			if ('phone' in result) return result.phone;
			if (!checked) return String(value).replace(/\D/g, '');
			context.addIssue({ code: 'custom', message: result.problem });
			return z.NEVER;
		}),
		document: z.unknown().transform((value, context): string => {
			const result = parseDocument(value);
			if ('document' in result) return result.document;
			if (!checked) return stripDocument(String(value));
			context.addIssue({ code: 'custom', message: result.problem });
			return z.NEVER;
		}),
	};
}
