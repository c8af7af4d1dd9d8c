// Whole files, as the program's commands read and write them.
#pragma once

#include <sturnus/runtime/files.h>

namespace sturnus::app {

using sturnus::read_file;
using sturnus::write_file;

}  // namespace sturnus::app
