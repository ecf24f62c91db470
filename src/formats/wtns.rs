//! iden3's `.wtns`, version 2: section 1 the size of an element, the prime and the number of values, section 2 the
//! values, 32 bytes each, little-endian, in the order of the `.r1cs` file's wires.

use zeroize::Zeroizing;

use super::iden3;
use super::source::Source;
use crate::error::{Error, Result, reserve};
use crate::math::field::Field;
use crate::math::fr::{self, Fr};

const MAGIC: &[u8; 4] = b"wtns";
const VERSION: u32 = 2;

/// Reads a witness: the constant one, the public outputs, the public inputs, then the rest. `Unsupported` for another
/// version or prime; `Format` where counts disagree, a value is not below r, or the first is not one.
pub fn read(source: &Source<'_>) -> Result<Zeroizing<Vec<Fr>>> {
    read_all(source).map_err(|e| e.at("wtns"))
}

fn read_all(source: &Source<'_>) -> Result<Zeroizing<Vec<Fr>>> {
    let [mut header, mut values] = iden3::sections(source, MAGIC, VERSION)?;
    let in_header = |e: Error| e.at("header section");
    iden3::check_prime(&mut header).map_err(in_header)?;
    let count = header.u32().map_err(in_header)?;
    iden3::check_end(&header).map_err(in_header)?;
    let (needed, got) = (u64::from(count) * u64::from(iden3::ELEMENT_BYTES), values.remaining());
    if needed != got {
        return Err(Error::format(format!("values section: {count} values need {needed} bytes, it has {got}")));
    }
    let mut witness = Zeroizing::new(Vec::new());
    reserve(&mut witness, count as usize, "a witness")?;
    for index in 0..count {
        let offset = values.position();
        let bytes = Zeroizing::new(values.bytes::<32>()?);
        let value = Fr::from_le_bytes(&bytes)
            .ok_or_else(|| Error::format(format!("value {index} (offset {offset}) is not below r")))?;
        witness.push(value);
    }
    if witness.first() != Some(&Fr::ONE) {
        return Err(Error::format("value 0 is not one"));
    }
    Ok(witness)
}

/// The file's bytes; they are as secret as the witness. `Invalid` for 2^32 values or more.
pub fn to_bytes(witness: &[Fr]) -> Result<Zeroizing<Vec<u8>>> {
    let count = u32::try_from(witness.len())
        .map_err(|_| Error::invalid(format!("wtns: {} values are more than 2^32 - 1", witness.len())))?;
    let mut header = iden3::ELEMENT_BYTES.to_le_bytes().to_vec();
    header.extend(fr::scalar_to_le_bytes(&fr::MODULUS));
    header.extend(count.to_le_bytes());
    let mut values = Zeroizing::new(Vec::with_capacity(witness.len() * 32));
    witness.iter().for_each(|value| values.extend(value.to_le_bytes()));
    Ok(Zeroizing::new(iden3::assemble(MAGIC, VERSION, &[(1, &header), (2, &values)])))
}
