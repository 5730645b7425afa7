import type { IDataObject } from 'n8n-workflow';
import type { z } from 'zod/v3';
import { formatReais, isHundredfold, typedAmount } from '../domain';
import { displayPath, fieldLabel, type Form, type Path } from '../form';
import { NotSentError } from '../output';

interface CustomFields {
	customFields?: IDataObject;
}
type CartItems = ReadonlyArray<{ more: CustomFields }>;

/** Checks the body that a creation will send. Custom Fields may put any value into it. Their amounts are in cents. */
export class BodyCheck {
	private readonly customFields: IDataObject;
	private readonly cart: CartItems;

	constructor(
		private readonly form: Form<unknown>,
		{ additionalFields, cart = [] }: { additionalFields: CustomFields; cart?: CartItems },
	) {
		this.customFields = additionalFields.customFields ?? {};
		this.cart = cart;
	}

	/** @throws NotSentError that names the field */
	read<T>(schema: z.ZodType<T, z.ZodTypeDef, unknown>, body: IDataObject): T {
		const { success, data, error } = schema.safeParse(body);
		if (success) return data;
		const [{ path = [], message = '' } = {}] = error.issues;
		const advice = 'Correct the field, or leave it out. Amounts in Custom Fields are in cents.';
		throw new NotSentError(`${this.labelOf(...path)} ${message}`, advice);
	}

	labelOf(...path: Path): string {
		const customPath = this.findCustomPath(path);
		return customPath
			? displayPath(this.form.properties, customPath)
			: (fieldLabel(this.form, path.join('.')) ?? path.join('.'));
	}

	/** If a price is exactly 100 times another, or a hundredth of it, reais and cents were probably mixed up. */
	findMismatch(
		path: Path,
		cents: number | null | undefined,
		source: string,
		other: number | undefined,
	): NotSentError | undefined {
		if (cents == null || other === undefined || !isHundredfold(cents, other)) return undefined;
		const typed = this.findCustomPath(path) ? other : typedAmount(other);
		return new NotSentError(
			`${this.labelOf(...path)} is ${formatReais(cents)}, but ${source} ${formatReais(other)}`,
			`Enter ${typed}, or add Options > Allow Price Mismatch if ${formatReais(cents)} is right.`,
		);
	}

	private findCustomPath(path: Path): Path | undefined {
		const [field = '', index = -1, own = ''] = path;
		if (field in this.customFields) return ['additionalFields', 'customFields', ...path];
		const ofItem = field === 'cart' && this.cart[Number(index)]?.more.customFields;
		return ofItem && own in ofItem
			? ['cart', 'items', index, 'more', 'customFields', own]
			: undefined;
	}
}
