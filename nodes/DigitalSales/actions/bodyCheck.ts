import type { IDataObject } from 'n8n-workflow';
import type { z } from 'zod/v3';
import { formatReais, isHundredfold, typedAmount } from '../domain/money';
import type { Form, Path } from '../form/defineForm';
import { displayPath, fieldLabel } from '../form/readForm';
import { NotSentError } from '../output/errors';

/** Checks the body that a creation will send. Custom Fields may put any value into it. Their amounts are in cents. */
export class BodyCheck {
	private readonly customFields: IDataObject;

	constructor(
		private readonly form: Form<unknown>,
		{ additionalFields }: { additionalFields: { customFields?: IDataObject } },
	) {
		this.customFields = additionalFields.customFields ?? {};
	}

	/** @throws NotSentError that names the field */
	read<T>(schema: z.ZodType<T, z.ZodTypeDef, unknown>, body: IDataObject): T {
		const { success, data, error } = schema.safeParse(body);
		if (success) return data;
		const [{ path = [], message = '' } = {}] = error.issues;
		const advice = 'Correct the field, or leave it out. Amounts in Custom Fields are in cents.';
		throw new NotSentError(`${this.labelOf(...path)} ${message}`, advice);
	}

	/** The display name of a field of the body. */
	labelOf(...path: Path): string {
		return this.isCustom(path)
			? displayPath(this.form.properties, ['additionalFields', 'customFields', ...path])
			: (fieldLabel(this.form, path.join('.')) ?? path.join('.'));
	}

	/**
	 * If a price is exactly 100 times another, or a hundredth of it, reais and cents were probably mixed up.
	 *
	 * @param source introduces the other price in the message: "the cart adds up to"
	 */
	findMismatch(
		path: Path,
		cents: number | null | undefined,
		source: string,
		other: number | undefined,
	): NotSentError | undefined {
		if (cents == null || other === undefined || !isHundredfold(cents, other)) return undefined;
		const typed = this.isCustom(path) ? other : typedAmount(other);
		return new NotSentError(
			`${this.labelOf(...path)} is ${formatReais(cents)}, but ${source} ${formatReais(other)}`,
			`Enter ${typed}, or add Options > Allow Price Mismatch if ${formatReais(cents)} is right.`,
		);
	}

	private isCustom([field = '']: Path): boolean {
		return field in this.customFields;
	}
}
