import { defineForm, defineGroup } from '../../form/defineForm';
import { transactionHashField } from '../../form/locators';
import {
	outputFieldsWithPicture,
	qrCodeImageOption,
	simplifyOption,
} from '../../form/outputOptions';

/** The form of Transaction > Get: GET /transactions/{hash} (API document, Endpoint 1). */
export const getForm = defineForm([
	transactionHashField,
	simplifyOption,
	defineGroup({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [
		qrCodeImageOption,
		outputFieldsWithPicture,
	]),
]);
